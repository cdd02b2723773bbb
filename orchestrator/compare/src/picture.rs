//! How two pictures of a screen differ: which pixels, in which boxes, and whether something only moved.
//!
//! A pixel differs when it does in the sense of YIQ distances, threshold 0.1, and is not an edge that was
//! smoothed otherwise. (Kotsarenko and Ramos, 2010; Vyšniauskas, 2009; as `pixelmatch` counts)

mod album;
mod boxes;
mod decode;
mod pixels;
mod shift;
mod webp;

use std::ops::Range;

use crate::answer::BoxKind;

pub(crate) use album::Album;
pub use decode::DecodeError;
pub use webp::WebpError;

/// A decoded picture.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Red, green, blue, alpha of each pixel, row by row.
    pub rgba: Vec<u8>,
}

/// How two pictures differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// In no pixel.
    None,
    /// In size.
    Size,
    /// A part moved, and that is all.
    Shifted {
        /// To the right and down, in pixels.
        by: [i32; 2],
        /// How many pixels differ where they were.
        pixels: u64,
        /// What moved: left, top, right, bottom.
        at: [i32; 4],
    },
    /// In pixels.
    Changed {
        /// How many.
        pixels: u64,
        /// Where, the largest first.
        areas: Vec<Area>,
    },
}

impl Difference {
    /// Where it is: left, top, right, bottom; nowhere when the sizes differ.
    pub(crate) fn boxes(&self) -> Vec<[i32; 4]> {
        match self {
            Self::None | Self::Size => Vec::new(),
            Self::Shifted { at, .. } => vec![*at],
            Self::Changed { areas, .. } => areas.iter().map(|area| area.at).collect(),
        }
    }
}

/// A part of a picture that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// Left, top, right, bottom, in pixels.
    pub at: [i32; 4],
    /// How many pixels differ in it.
    pub pixels: u64,
    /// Whether one of the pictures is of one colour there.
    pub kind: BoxKind,
}

impl Picture {
    /// Reads a PNG of any kind.
    ///
    /// # Errors
    ///
    /// What is not a PNG, is cut short, or has more pixels than a screen.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        decode::decode(bytes)
    }

    /// The bytes of a row.
    fn row(&self, y: usize) -> &[u8] {
        let length = self.width as usize * 4;
        &self.rgba[y * length..(y + 1) * length]
    }

    /// Whether the size is that of the pixels.
    fn is_whole(&self) -> bool {
        let pixels = u64::from(self.width) * u64::from(self.height);
        pixels.checked_mul(4) == u64::try_from(self.rgba.len()).ok()
    }

    /// The picture with rectangles painted over.
    pub(crate) fn masked(&self, masks: &[[i32; 4]]) -> Self {
        let mut picture = self.clone();
        for range in masks.iter().flat_map(|mask| self.rows_of(*mask)) {
            picture.rgba[range].fill(0xff);
        }
        picture
    }

    /// Where the rows of a part are among the bytes: left, top, right, bottom, cut to the picture.
    fn rows_of(
        &self,
        [left, top, right, bottom]: [i32; 4],
    ) -> impl Iterator<Item = Range<usize>> + use<> {
        let within = |edge: i32, most: u32| u32::try_from(edge).unwrap_or(0).min(most) as usize;
        let (left, right) = (within(left, self.width), within(right, self.width));
        let (top, bottom) = (within(top, self.height), within(bottom, self.height));
        let width = self.width as usize;
        let rows = (top..bottom).filter(move |_| left < right);
        rows.map(move |y| (y * width + left) * 4..(y * width + right) * 4)
    }
}

/// How a picture differs from another. Masks are rectangles to leave out: left, top, right, bottom.
pub fn difference(was: &Picture, is: &Picture, masks: &[[i32; 4]]) -> Difference {
    if (was.width, was.height) != (is.width, is.height) || !was.is_whole() || !is.is_whole() {
        return Difference::Size;
    }
    if masks.is_empty() {
        return unmasked(was, is);
    }
    unmasked(&was.masked(masks), &is.masked(masks))
}

fn unmasked(was: &Picture, is: &Picture) -> Difference {
    let changed = pixels::changed(was, is);
    if changed.count == 0 {
        return Difference::None;
    }
    let pixels = changed.count;
    if let Some((by, at)) = shift::find(was, is, &changed) {
        return Difference::Shifted { by, pixels, at };
    }
    let areas = boxes::areas(was, is, &changed);
    Difference::Changed { pixels, areas }
}

#[cfg(test)]
mod tests;
