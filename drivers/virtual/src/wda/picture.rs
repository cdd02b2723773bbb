//! A part of a picture, as PNG.

use crate::geometry::Rect;
use crate::paint::Canvas;

/// The part of `canvas` below `frame`, which is in points; `None` when nothing of it is there.
pub(crate) fn cut(canvas: &Canvas, frame: Rect, scale: f64) -> Option<Vec<u8>> {
    let pixel =
        |length: f64, most: u32| (length * scale).round().clamp(0.0, f64::from(most)) as u32;
    let (left, right) = (
        pixel(frame.x, canvas.width()),
        pixel(frame.right(), canvas.width()),
    );
    let (top, bottom) = (
        pixel(frame.y, canvas.height()),
        pixel(frame.bottom(), canvas.height()),
    );
    if left >= right || top >= bottom {
        return None;
    }
    let mut pixels = Vec::new();
    for row in canvas.rows().take(bottom as usize).skip(top as usize) {
        pixels.extend_from_slice(row.get(left as usize * 4..right as usize * 4)?);
    }
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, right - left, bottom - top);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&pixels).ok()?;
    writer.finish().ok()?;
    Some(out)
}
