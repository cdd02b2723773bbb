//! Whether a part of a picture only moved, up, down or sideways.

use std::collections::HashMap;

use super::Picture;
use super::pixels::Changed;
use crate::align::unique;

/// Lines that have to agree on how far they moved.
const LEAST_VOTES: usize = 4;

/// By how much to the right and down, and what: left, top, right, bottom. Only when nothing else
/// changed but what the moved part uncovered.
pub(super) fn find(was: &Picture, is: &Picture, changed: &Changed) -> Option<([i32; 2], [i32; 4])> {
    let (width, height) = (was.width as i32, was.height as i32);
    let (one, other) = rows(was, is);
    if let Some((by, from, to)) = along(&one, &other) {
        return Some(([0, by], [0, from, width, to]));
    }
    // Sideways, only the rows that changed say something.
    let range = changed.rows.clone();
    let (top, bottom) = (range.start as i32, range.end as i32);
    let (one, other) = (columns(was, range.clone()), columns(is, range));
    let (by, from, to) = along(&one, &other)?;
    let at = [from, top, to.min(width), bottom.min(height)];
    Some(([by, 0], at))
}

/// How far lines moved, and which: first, and one past the last.
fn along(was: &[u64], is: &[u64]) -> Option<(i32, i32, i32)> {
    let places = |lines: &[u64]| unique(lines.iter().map(|line| Some(*line)));
    // Lines that are there once on each picture vote.
    let known = places(was);
    let mut votes: HashMap<i64, usize> = HashMap::new();
    for (line, place) in places(is) {
        if let (Some(place), Some(Some(before))) = (place, known.get(&line)) {
            *votes.entry(place as i64 - *before as i64).or_default() += 1;
        }
    }
    votes.remove(&0);
    let votes = votes.into_iter().filter(|(_, count)| *count >= LEAST_VOTES);
    let (by, _) = votes.max_by_key(|(by, count)| (*count, -by.abs(), *by))?;
    let mut moved: Option<(usize, usize)> = None;
    let mut unexplained = 0;
    for (place, line) in is.iter().enumerate() {
        if was.get(place) == Some(line) {
            continue;
        }
        let before = usize::try_from(place as i64 - by).ok();
        if before.and_then(|before| was.get(before)) == Some(line) {
            moved = Some((moved.map_or(place, |(first, _)| first), place + 1));
        } else {
            unexplained += 1;
        }
    }
    let (first, end) = moved?;
    let gap = by.unsigned_abs() as usize;
    // What was uncovered is as large as the way it moved.
    (unexplained <= gap).then_some((by as i32, first as i32, end as i32))
}

/// The rows of both pictures; one that is the same on both is read once.
fn rows(was: &Picture, is: &Picture) -> (Vec<u64>, Vec<u64>) {
    (0..was.height as usize)
        .map(|y| {
            let (one, other) = (was.row(y), is.row(y));
            let hash = row(one);
            (hash, if one == other { hash } else { row(other) })
        })
        .unzip()
}

/// Four chains at once, because each waits for its last product.
fn row(bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<32>();
    let mut lanes = [SEED, !SEED, SEED.rotate_left(21), SEED.rotate_left(42)];
    for block in blocks {
        for (lane, eight) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
            *lane = mix(*lane, u64::from_le_bytes(*eight));
        }
    }
    let whole = lanes.into_iter().fold(SEED, mix);
    rest.iter()
        .fold(whole, |hash, byte| mix(hash, u64::from(*byte)))
}

fn columns(picture: &Picture, rows: std::ops::Range<usize>) -> Vec<u64> {
    let mut hashes = vec![SEED; picture.width as usize];
    for y in rows {
        for (hash, pixel) in hashes.iter_mut().zip(picture.row(y).as_chunks::<4>().0) {
            *hash = mix(*hash, u64::from(u32::from_le_bytes(*pixel)));
        }
    }
    hashes
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95)
}
