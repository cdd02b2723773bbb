//! `nc`: connects to a port inside of the phone, which may lead to the host.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::android::commands::{Call, CommandResult};

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let options = call.options("z", &[]).await?;
    let port = match options.rest.as_slice() {
        [host, port] if matches!(host.as_str(), "127.0.0.1" | "localhost") => port,
        [_, _] => return call.fail("connect: Network is unreachable", 1).await,
        _ => return call.fail("Needs 2 arguments", 1).await,
    };
    let Some(connection) = call.android().dial(&format!("tcp:{port}")).await else {
        return call.fail("connect: Connection refused", 1).await;
    };
    if options.has("z") {
        return Ok(0);
    }
    let (mut reader, mut writer) = tokio::io::split(connection);
    let sending = async {
        while let Some(block) = call.io.stdin.block().await {
            if writer.write_all(&block).await.is_err() {
                break;
            }
        }
        // A stream of adb cannot be closed in one direction only.
        std::future::pending::<()>().await;
    };
    let receiving = async {
        let mut buffer = bytes::BytesMut::new();
        loop {
            buffer.reserve(16 * 1024);
            match reader.read_buf(&mut buffer).await {
                Ok(0) | Err(_) => return Ok(0),
                Ok(_) => call.out(buffer.split().freeze()).await?,
            }
        }
    };
    tokio::select! {
        () = sending => Ok(0),
        result = receiving => result,
    }
}
