//! WebP without loss: how approved pictures are kept.

use std::io::Cursor;

use image_webp::{ColorType, WebPDecoder, WebPEncoder};

use super::Picture;
use super::decode::MAX_PIXELS;
use crate::words::digest;

/// Why a picture cannot be kept, or read again.
#[derive(Debug, thiserror::Error)]
pub enum WebpError {
    /// It is not a WebP, or cut short.
    #[error("decode the WebP: {0}")]
    Decode(#[from] image_webp::DecodingError),
    /// It cannot be one.
    #[error("encode the WebP: {0}")]
    Encode(#[from] image_webp::EncodingError),
    /// It has no pixels, or more than a screen.
    #[error("invalid screen size {width}x{height}")]
    Size {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// It loses colours: pixels cannot be compared with it.
    #[error("the WebP is lossy or animated")]
    Lossy,
}

impl Picture {
    /// Writes it as a lossless WebP: the same pixels come out of [`Picture::from_webp`].
    ///
    /// # Errors
    ///
    /// When it has no pixels or is wider than the format allows.
    pub fn to_webp(&self) -> Result<Vec<u8>, WebpError> {
        let Self { width, height, .. } = *self;
        if !self.is_whole() || width == 0 || height == 0 {
            return Err(WebpError::Size { width, height });
        }
        let mut bytes = Vec::new();
        // Screens are opaque; three channels take less space.
        let pixels = self.rgba.as_chunks::<4>().0;
        let encoder = WebPEncoder::new(&mut bytes);
        if pixels.iter().all(|pixel| pixel[3] == u8::MAX) {
            let rgb = pixels.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]);
            encoder.encode(&rgb.collect::<Vec<u8>>(), width, height, ColorType::Rgb8)?;
        } else {
            encoder.encode(&self.rgba, width, height, ColorType::Rgba8)?;
        }
        Ok(bytes)
    }

    /// Reads a lossless WebP.
    ///
    /// # Errors
    ///
    /// What is none, is cut short, or has more pixels than a screen.
    pub fn from_webp(bytes: &[u8]) -> Result<Self, WebpError> {
        let mut decoder = WebPDecoder::new(Cursor::new(bytes))?;
        let (width, height) = decoder.dimensions();
        let pixels = u64::from(width) * u64::from(height);
        let length = decoder.output_buffer_size();
        let Some(length) = length.filter(|_| pixels > 0 && pixels <= MAX_PIXELS) else {
            return Err(WebpError::Size { width, height });
        };
        if decoder.is_animated() || decoder.is_lossy() {
            return Err(WebpError::Lossy);
        }
        decoder.set_memory_limit(MAX_PIXELS as usize * 8);
        let mut raw = vec![0; length];
        decoder.read_image(&mut raw)?;
        let rgba = if decoder.has_alpha() {
            raw
        } else {
            let pixels = raw.as_chunks::<3>().0.iter();
            pixels.flat_map(|[r, g, b]| [*r, *g, *b, u8::MAX]).collect()
        };
        Ok(Self {
            width,
            height,
            rgba,
        })
    }

    /// The first 16 hex digits of the SHA-256 of its size and pixels, however it is packed.
    pub fn digest(&self) -> String {
        let [width, height] = [self.width, self.height].map(u32::to_le_bytes);
        digest([&width[..], &height, &self.rgba].concat(), 8)
    }

    /// The same with a part of another of its size: left, top, right, bottom.
    #[must_use]
    pub fn with_part_of(mut self, other: &Self, part: [i32; 4]) -> Self {
        let is_alike = (self.width, self.height) == (other.width, other.height);
        if !is_alike || !self.is_whole() || !other.is_whole() {
            return self;
        }
        for range in self.rows_of(part) {
            self.rgba[range.clone()].copy_from_slice(&other.rgba[range]);
        }
        self
    }
}
