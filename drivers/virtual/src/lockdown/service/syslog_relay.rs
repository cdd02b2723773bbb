//! `com.apple.syslog_relay`: the system's log as lines, for as long as the client listens. What a
//! virtual phone has to say fits into one.

use crate::lockdown::channel::Channel;
use crate::lockdown::frame::FrameError;

pub(super) async fn serve(channel: Channel) -> Result<(), FrameError> {
    let Channel::Secure(mut stream) = channel else {
        return Ok(());
    };
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    // Lines end with a line feed and a zero.
    stream
        .write_all(b"Jan  1 00:00:00 iPhone syslog_relay[1] <Notice>: syslog_relay starting\n\0")
        .await?;
    stream.flush().await?;
    let mut ignored = [0; 256];
    while stream.read(&mut ignored).await? > 0 {}
    Ok(())
}
