//! Pixels that differ, gathered to boxes: tiles of 8 by 8 that touch, or nearly do, are one.

use super::pixels::Changed;
use super::{Area, Picture};
use crate::answer::BoxKind;

const TILE: u32 = 8;
/// Tiles this near are one box, so that a word is one and not a box for each letter.
const NEAR: usize = 2;
/// Boxes told at most.
const MAX_BOXES: usize = 40;

pub(super) fn areas(was: &Picture, is: &Picture, changed: &Changed) -> Vec<Area> {
    let columns = was.width.div_ceil(TILE) as usize;
    let rows = was.height.div_ceil(TILE) as usize;
    let tile = |(x, y): (u32, u32)| (y / TILE) as usize * columns + (x / TILE) as usize;
    // For each tile: nothing in it, not reached yet, or the box it belongs to.
    let mut tiles: Vec<Option<usize>> = vec![None; columns * rows];
    const OPEN: usize = usize::MAX;
    for place in &changed.places {
        tiles[tile(*place)] = Some(OPEN);
    }
    let mut count = 0;
    for start in 0..tiles.len() {
        if tiles[start] != Some(OPEN) {
            continue;
        }
        tiles[start] = Some(count);
        let mut queue = vec![start];
        while let Some(at) = queue.pop() {
            let (column, row) = (at % columns, at / columns);
            for row in row.saturating_sub(NEAR)..=(row + NEAR).min(rows - 1) {
                for column in column.saturating_sub(NEAR)..=(column + NEAR).min(columns - 1) {
                    let next = row * columns + column;
                    if tiles[next] == Some(OPEN) {
                        tiles[next] = Some(count);
                        queue.push(next);
                    }
                }
            }
        }
        count += 1;
    }
    let empty = Area {
        at: [i32::MAX, i32::MAX, 0, 0],
        pixels: 0,
        kind: BoxKind::Changed,
    };
    let mut areas: Vec<Area> = vec![empty; count];
    for &(x, y) in &changed.places {
        let Some(area) = tiles[tile((x, y))].and_then(|at| areas.get_mut(at)) else {
            continue;
        };
        let (x, y) = (x as i32, y as i32);
        let [left, top, right, bottom] = area.at;
        area.at = [left.min(x), top.min(y), right.max(x + 1), bottom.max(y + 1)];
        area.pixels += 1;
    }
    areas.sort_by_key(|area| (u64::MAX - area.pixels, area.at));
    areas.truncate(MAX_BOXES);
    for area in &mut areas {
        area.kind = if is_plain(was, area.at) {
            BoxKind::Added
        } else if is_plain(is, area.at) {
            BoxKind::Removed
        } else {
            BoxKind::Changed
        };
    }
    areas
}

/// Whether a part of a picture is of one colour, and so is what is around it.
fn is_plain(picture: &Picture, [left, top, right, bottom]: [i32; 4]) -> bool {
    let range = |from: i32, to: i32, end: u32| {
        let to = (to.max(0) as usize + 1).min(end as usize);
        (from.max(1) as usize - 1).min(to)..to
    };
    let mut first: Option<&[u8]> = None;
    range(top, bottom, picture.height).all(|y| {
        let columns = range(left, right, picture.width);
        let row = &picture.row(y)[columns.start * 4..columns.end * 4];
        let mut pixels = row.chunks_exact(4);
        pixels.all(|pixel| *first.get_or_insert(pixel) == pixel)
    })
}
