//! Which pixels differ.

use super::Picture;

/// The squared YIQ distance of black and white.
const MOST: f64 = 35_215.0;
/// Distances up to this share of it are not seen.
const THRESHOLD: f64 = 0.1;
/// Channels that are all nearer than this are never seen to differ: at most two thirds of its square are
/// a distance.
const NEAR: u8 = 22;
/// A pixel with more neighbours of its colour lies in a field.
const FIELD: usize = 2;

/// The pixels that differ.
pub(super) struct Changed {
    pub(super) count: u64,
    /// The rows in which bytes differ, first and one past the last.
    pub(super) rows: std::ops::Range<usize>,
    /// Their places, row by row.
    pub(super) places: Vec<(u32, u32)>,
}

pub(super) fn changed(was: &Picture, is: &Picture) -> Changed {
    let mut changed = Changed {
        count: 0,
        rows: 0..0,
        places: Vec::new(),
    };
    let most = MOST * THRESHOLD * THRESHOLD;
    for y in 0..was.height as usize {
        let (one, other) = (was.row(y), is.row(y));
        if one == other {
            continue;
        }
        if changed.rows.is_empty() {
            changed.rows.start = y;
        }
        changed.rows.end = y + 1;
        let pixels = one.as_chunks::<4>().0.iter().zip(other.as_chunks::<4>().0);
        for (x, (one, other)) in pixels.enumerate() {
            if one == other || is_near(*one, *other) || distance(*one, *other) <= most {
                continue;
            }
            if !is_smoothed(was, is, x, y) && !is_smoothed(is, was, x, y) {
                changed.count += 1;
                changed.places.push((x as u32, y as u32));
            }
        }
    }
    changed
}

/// Red, green and blue on white.
fn blended([red, green, blue, alpha]: [u8; 4]) -> [f64; 3] {
    [red, green, blue].map(|channel| {
        if alpha == 255 {
            f64::from(channel)
        } else {
            255.0 + (f64::from(channel) - 255.0) * f64::from(alpha) / 255.0
        }
    })
}

fn luma([red, green, blue]: [f64; 3]) -> f64 {
    red * 0.298_895_31 + green * 0.586_622_47 + blue * 0.114_482_23
}

/// Whether the distance need not be measured.
fn is_near(one: [u8; 4], other: [u8; 4]) -> bool {
    one[3] == 255
        && other[3] == 255
        && (0..3).all(|channel| one[channel].abs_diff(other[channel]) <= NEAR)
}

fn distance(one: [u8; 4], other: [u8; 4]) -> f64 {
    let (one, other) = (blended(one), blended(other));
    let [red, green, blue] = [0, 1, 2].map(|channel| one[channel] - other[channel]);
    let y = luma([red, green, blue]);
    let i = red * 0.595_977_99 - green * 0.274_176_10 - blue * 0.321_801_89;
    let q = red * 0.211_470_17 - green * 0.522_617_11 + blue * 0.311_146_94;
    0.5053 * y * y + 0.299 * i * i + 0.1957 * q * q
}

fn pixel(picture: &Picture, x: usize, y: usize) -> [u8; 4] {
    let at = (y * picture.width as usize + x) * 4;
    let pixel = picture.rgba.get(at..at + 4);
    pixel
        .and_then(|pixel| pixel.try_into().ok())
        .unwrap_or_default()
}

/// The pixels around one, and whether it is at the edge of the picture.
fn around(picture: &Picture, x: usize, y: usize) -> (impl Iterator<Item = (usize, usize)>, bool) {
    let (right, bottom) = (picture.width as usize - 1, picture.height as usize - 1);
    let columns = x.saturating_sub(1)..=(x + 1).min(right);
    let rows = y.saturating_sub(1)..=(y + 1).min(bottom);
    let is_edge = x == 0 || y == 0 || x == right || y == bottom;
    let pixels = columns
        .flat_map(move |column| rows.clone().map(move |row| (column, row)))
        .filter(move |place| *place != (x, y));
    (pixels, is_edge)
}

/// Whether a pixel is part of a smoothed edge: between a darker and a brighter one, of which one lies in
/// a field of its colour on both pictures.
fn is_smoothed(picture: &Picture, other: &Picture, x: usize, y: usize) -> bool {
    // Most pixels that differ lie in a field, which is cheap to see.
    if has_equal_neighbours(picture, x, y) {
        return false;
    }
    let own = pixel(picture, x, y);
    let own_luma = luma(blended(own));
    let (neighbours, is_edge) = around(picture, x, y);
    let mut equal = usize::from(is_edge);
    let mut darkest = (0.0, (x, y));
    let mut brightest = (0.0, (x, y));
    for (column, row) in neighbours {
        let neighbour = pixel(picture, column, row);
        let delta = if neighbour == own {
            0.0
        } else {
            own_luma - luma(blended(neighbour))
        };
        if delta == 0.0 {
            equal += 1;
            if equal > FIELD {
                return false;
            }
        } else if delta < darkest.0 {
            darkest = (delta, (column, row));
        } else if delta > brightest.0 {
            brightest = (delta, (column, row));
        }
    }
    if darkest.0 == 0.0 || brightest.0 == 0.0 {
        return false;
    }
    let is_field =
        |(x, y)| has_equal_neighbours(picture, x, y) && has_equal_neighbours(other, x, y);
    is_field(darkest.1) || is_field(brightest.1)
}

fn has_equal_neighbours(picture: &Picture, x: usize, y: usize) -> bool {
    let own = pixel(picture, x, y);
    if let Some(nine) = nine(picture, x, y) {
        // Itself is among them.
        let equal = nine.into_iter().flatten().filter(|one| **one == own);
        return equal.count() > FIELD + 1;
    }
    let (neighbours, is_edge) = around(picture, x, y);
    let equal = neighbours.filter(|(column, row)| pixel(picture, *column, *row) == own);
    equal.count() + usize::from(is_edge) > FIELD
}

/// A pixel and those around it, three rows of three; `None` at the edge of the picture.
fn nine(picture: &Picture, x: usize, y: usize) -> Option<[&[[u8; 4]]; 3]> {
    let width = picture.width as usize;
    if x == 0 || y == 0 || x + 1 >= width || y + 1 >= picture.height as usize {
        return None;
    }
    let pixels = picture.rgba.as_chunks::<4>().0;
    let three = |row: usize| pixels.get(row * width + x - 1..row * width + x + 2);
    Some([three(y - 1)?, three(y)?, three(y + 1)?])
}
