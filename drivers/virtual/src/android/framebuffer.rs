//! `framebuffer:`: the screen as pixels. Source: adb's `daemon/framebuffer_service.cpp`.

use std::sync::Arc;

use crate::android::Android;
use crate::android::stream::Stream;

/// Version of the header.
const VERSION: u32 = 2;
/// sRGB; with 0 a real client takes the header for a shorter one and reads nonsense.
const COLOUR_SPACE: u32 = 1;

/// Sends one frame.
pub(super) async fn run(android: &Arc<Android>, stream: Stream) {
    android
        .device
        .takes(android.device.latency().screencap)
        .await;
    let Ok(canvas) = android.device.pixels().await else {
        return;
    };
    let (width, height) = (canvas.width(), canvas.height());
    let size = width * height * 4;
    let header = [
        VERSION,
        32,
        COLOUR_SPACE,
        size,
        width,
        height,
        // Offset and length in bits of red, blue, green and alpha, in this order.
        0,
        8,
        16,
        8,
        8,
        8,
        24,
        8,
    ];
    let header: Vec<u8> = header.into_iter().flat_map(u32::to_le_bytes).collect();
    if stream.send(header).await.is_err() {
        return;
    }
    let mut rows = canvas.rows();
    loop {
        let block: Vec<u8> = rows.by_ref().take(16).flatten().collect();
        if block.is_empty() || stream.send(block).await.is_err() {
            return;
        }
    }
}
