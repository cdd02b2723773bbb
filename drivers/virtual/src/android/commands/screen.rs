//! `screencap` and `screenrecord`.

use std::time::Duration;

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::android::shell::io::{Output, Stop};

/// Where the picture goes: a file, or the output; `None` after a complaint.
async fn target(call: &Call<'_>, path: Option<&String>) -> Result<Option<Output>, Stop> {
    let Some(path) = path.filter(|path| path.as_str() != "-") else {
        return Ok(Some(call.io.stdout.clone()));
    };
    match call.shell.open_output(path, false) {
        Ok(output) => Ok(Some(output)),
        Err(errno) => {
            call.err(format!("Error opening file: {path} ({errno})\n"))
                .await?;
            Ok(None)
        }
    }
}

pub(super) async fn screencap(call: &mut Call<'_>) -> CommandResult {
    let options = call.options("p", &["d"]).await?;
    let path = options.rest.first();
    let png = options.has("p") || path.is_some_and(|path| path.ends_with(".png"));
    let Some(output) = target(call, path).await? else {
        return Ok(1);
    };
    let device = call.shell.android.device().clone();
    device.takes(device.latency().screencap).await;
    if png {
        let Ok(picture) = device.screenshot(1.0).await else {
            return Ok(1);
        };
        output.write(picture).await?;
        return Ok(0);
    }
    let Ok(canvas) = device.pixels().await else {
        return Ok(1);
    };
    // Width, height, format (RGBA) and colour space (sRGB), then the pixels.
    let header = [canvas.width(), canvas.height(), 1, 1].map(u32::to_le_bytes);
    output.write(header.concat()).await?;
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
pub(super) async fn screenrecord(call: &mut Call<'_>) -> CommandResult {
    let with_value = ["--time-limit", "--size", "--bit-rate", "--output-format"];
    let options = Options::of(call.rest(), &with_value);
    let [path] = options.rest.as_slice() else {
        let text = "Must specify output file (see --help).\n";
        return call.refuse(text, 2).await;
    };
    let Some(output) = target(call, Some(path)).await? else {
        return Ok(1);
    };
    // `ftyp` and an empty `mdat`: enough for tools that look at the head of the file.
    output
        .write(&b"\0\0\0\x18ftypmp42\0\0\0\0isommp42\0\0\0\x08mdat"[..])
        .await?;
    let limit: u64 = options.number("--time-limit").unwrap_or(180).clamp(1, 1800);
    let device = call.shell.android.device();
    device.sleep(Duration::from_secs(limit)).await;
    Ok(0)
}
