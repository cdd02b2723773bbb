//! `screencap` and `screenrecord`.

use std::time::Duration;

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::android::shell::io::Output;

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    match call.name() {
        "screencap" => screencap(call).await,
        _ => screenrecord(call).await,
    }
}

/// Where the picture goes: a file, or the output.
async fn target(
    call: &Call<'_>,
    path: Option<&String>,
) -> Result<Result<Output, i32>, crate::android::shell::io::Stop> {
    let Some(path) = path.filter(|path| path.as_str() != "-") else {
        return Ok(Ok(call.io.stdout.clone()));
    };
    match call.shell.open_output(path, false) {
        Ok(output) => Ok(Ok(output)),
        Err(errno) => {
            call.err(format!("Error opening file: {path} ({errno})\n"))
                .await?;
            Ok(Err(1))
        }
    }
}

async fn screencap(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["d", "--display-id"]);
    let path = options.rest.first();
    let output = match target(call, path).await? {
        Ok(output) => output,
        Err(code) => return Ok(code),
    };
    let device = call.shell.android.device().clone();
    device.takes(device.latency().screencap).await;
    let png = options.has("p") || path.is_some_and(|path| path.ends_with(".png"));
    if png {
        let Ok(picture) = device.screenshot(1.0).await else {
            return Ok(1);
        };
        output.write(picture).await?;
        return Ok(0);
    }
    // Width, height, format (RGBA) and colour space (sRGB), then the pixels.
    let Ok(canvas) = device.pixels().await else {
        return Ok(1);
    };
    let header: Vec<u8> = [canvas.width(), canvas.height(), 1, 1]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect();
    output.write(header).await?;
    let mut rows = canvas.rows();
    loop {
        let block: Vec<u8> = rows.by_ref().take(16).flatten().collect();
        if block.is_empty() {
            return Ok(0);
        }
        output.write(block).await?;
    }
}

/// Runs as long as asked or until it is killed. The file is an MP4 without a picture in it: the
/// virtual screen has no encoder.
async fn screenrecord(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(
        call.rest(),
        &[
            "--time-limit",
            "--size",
            "--bit-rate",
            "--display-id",
            "--output-format",
        ],
    );
    if options.rest.len() != 1 {
        call.err("Must specify output file (see --help).\n").await?;
        return Ok(2);
    }
    let output = match target(call, options.rest.first()).await? {
        Ok(output) => output,
        Err(code) => return Ok(code),
    };
    // `ftyp` and an empty `mdat`: enough for tools that look at the head of the file.
    output
        .write(&b"\0\0\0\x18ftypmp42\0\0\0\0isommp42\0\0\0\x08mdat"[..])
        .await?;
    let limit: u64 = options.number("--time-limit").unwrap_or(180).clamp(1, 1800);
    call.shell
        .android
        .device()
        .sleep(Duration::from_secs(limit))
        .await;
    Ok(0)
}
