//! PNG files as lossless WebP, which is smaller: on all processors, and within a budget of pixels,
//! because a report must not keep anybody waiting.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use packtrain_compare::picture::Picture;
use parking_lot::Mutex;

/// How many pixels are encoded altogether; what comes after is kept as it is.
const MOST_PIXELS: u64 = 60_000_000;
/// Largest picture that is decoded, in pixels: 4 bytes each.
const LARGEST: u64 = 16_000_000;

/// For each file its WebP, where it is a PNG, there is budget, and it gets smaller by that.
pub(super) fn smaller(files: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
    let mut left = MOST_PIXELS;
    let worth: Vec<usize> = (0..files.len())
        .filter(|&place| {
            let size = pixels(files[place]).filter(|&size| size <= LARGEST.min(left));
            left -= size.unwrap_or(0);
            size.is_some()
        })
        .collect();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(vec![None; files.len()]);
    let work = || {
        while let Some(&place) = worth.get(next.fetch_add(1, Ordering::Relaxed)) {
            let file = files[place];
            let encoded = encode(file).filter(|webp| webp.len() < file.len());
            done.lock()[place] = encoded;
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 1..threads.min(worth.len()) {
            scope.spawn(work);
        }
        work();
    });
    done.into_inner()
}

/// How many pixels a PNG says it has.
fn pixels(file: &[u8]) -> Option<u64> {
    if !file.starts_with(b"\x89PNG\r\n\x1a\n") {
        return None;
    }
    let number = |at: usize| -> Option<u64> {
        let bytes = file.get(at..at + 4)?;
        Some(u64::from(u32::from_be_bytes(bytes.try_into().ok()?)))
    };
    number(16)?.checked_mul(number(20)?)
}

fn encode(file: &[u8]) -> Option<Vec<u8>> {
    Picture::decode(file).ok()?.to_webp().ok()
}
