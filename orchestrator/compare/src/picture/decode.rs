//! PNG to pixels.

use std::io::Cursor;

use png::{ColorType, Decoder, Limits, Transformations};

use super::Picture;

/// No screen has more pixels; a hostile file may say so.
pub(super) const MAX_PIXELS: u64 = 64 * 1024 * 1024;

/// Why a file is not a picture.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// It is not a PNG, or cut short.
    #[error("decode the PNG: {0}")]
    Png(#[from] png::DecodingError),
    /// It is larger than a screen.
    #[error("decode the PNG: {width}x{height} is larger than any screen")]
    TooLarge {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
}

pub(super) fn decode(bytes: &[u8]) -> Result<Picture, DecodeError> {
    let limits = Limits {
        bytes: MAX_PIXELS as usize * 8,
    };
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
    // Palettes, fewer and more bits all become eight bits for each channel.
    decoder.set_transformations(Transformations::normalize_to_color8());
    let header = decoder.read_header_info()?;
    let (width, height) = (header.width, header.height);
    let too_large = || DecodeError::TooLarge { width, height };
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(too_large());
    }
    let mut reader = decoder.read_info()?;
    let mut raw = vec![0; reader.output_buffer_size().ok_or_else(too_large)?];
    let frame = reader.next_frame(&mut raw)?;
    raw.truncate(frame.buffer_size());
    let grey = |grey: u8, alpha: u8| [grey, grey, grey, alpha];
    let rgba = match frame.color_type {
        ColorType::Rgba => raw,
        ColorType::Rgb | ColorType::Indexed => {
            let mut rgba = vec![0xff; raw.len() / 3 * 4];
            for (to, from) in rgba.chunks_exact_mut(4).zip(raw.chunks_exact(3)) {
                to[..3].copy_from_slice(from);
            }
            rgba
        }
        ColorType::Grayscale => raw.iter().flat_map(|own| grey(*own, 0xff)).collect(),
        ColorType::GrayscaleAlpha => {
            let pixels = raw.as_chunks::<2>().0.iter();
            pixels.flat_map(|[own, alpha]| grey(*own, *alpha)).collect()
        }
    };
    Ok(Picture {
        width,
        height,
        rgba,
    })
}
