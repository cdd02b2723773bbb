//! Screenshots: the same screen gives the same bytes. Pictures are cached by what they show and
//! their size, and few are painted at once, because a phone's frame takes megabytes.

mod draw;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
pub use packtrain_canvas::{Canvas, encode};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::world::Snapshot;

/// How much a fleet may spend on pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaintLimits {
    /// Bytes of encoded pictures that are kept.
    pub cache: usize,
    /// Pictures painted at once.
    pub at_once: usize,
}

impl Default for PaintLimits {
    fn default() -> Self {
        Self {
            cache: 32 * 1024 * 1024,
            at_once: 2,
        }
    }
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PaintError {
    /// The runtime is going down.
    #[error("painting was interrupted")]
    Interrupted,
    /// The encoder refused.
    #[error("encoding the picture: {0}")]
    Encoding(#[from] packtrain_canvas::EncodingError),
}

/// Paints the screens of a fleet.
#[derive(Debug)]
pub struct Painter {
    cache: Mutex<Cache>,
    limit: Semaphore,
}

impl Painter {
    /// A painter with an empty cache.
    pub fn new(limits: PaintLimits) -> Self {
        Self {
            cache: Mutex::new(Cache {
                room: limits.cache,
                ..Cache::default()
            }),
            limit: Semaphore::new(limits.at_once.max(1)),
        }
    }

    /// The screen as a PNG of `width` x `height` pixels.
    ///
    /// # Errors
    /// When the runtime goes down meanwhile.
    pub async fn png(
        &self,
        snapshot: Snapshot,
        width: u32,
        height: u32,
    ) -> Result<Bytes, PaintError> {
        let key = key_of(&snapshot, width, height);
        if let Some(known) = self.cached(key) {
            return Ok(known);
        }
        let paint = move || encode(&draw::draw(&snapshot, width, height)).map(Bytes::from);
        let permit = self.limit.acquire().await;
        // Somebody else may have painted it while this one waited.
        if let Some(known) = self.cached(key) {
            return Ok(known);
        }
        let painted = tokio::task::spawn_blocking(paint).await;
        let png = painted.map_err(|_| PaintError::Interrupted)??;
        drop(permit);
        self.cache.lock().insert(key, png.clone());
        Ok(png)
    }

    /// The screen as `width` x `height` pixels of RGBA, row by row. Not cached.
    ///
    /// # Errors
    /// When the runtime goes down meanwhile.
    pub async fn canvas(
        &self,
        snapshot: Snapshot,
        width: u32,
        height: u32,
    ) -> Result<Canvas, PaintError> {
        let _permit = self.limit.acquire().await;
        let painted = tokio::task::spawn_blocking(move || draw::draw(&snapshot, width, height));
        painted.await.map_err(|_| PaintError::Interrupted)
    }

    fn cached(&self, key: u64) -> Option<Bytes> {
        self.cache.lock().get(key)
    }
}

/// What stands for a picture: all that it shows, and how large it is.
fn key_of(snapshot: &Snapshot, width: u32, height: u32) -> u64 {
    let mut hash = DefaultHasher::new();
    (snapshot.lit, snapshot.theme, snapshot.width.to_bits()).hash(&mut hash);
    (snapshot.font_scale.to_bits(), width, height).hash(&mut hash);
    for window in &snapshot.windows {
        (window.kind, window.nodes.len()).hash(&mut hash);
        for node in window.nodes.iter().filter(|n| n.is_visible()) {
            (node.role, node.flags, &node.text, &node.desc, &node.hint).hash(&mut hash);
            let seen = node.visible;
            [seen.x, seen.y, seen.w, seen.h, node.bounds.h]
                .map(f64::to_bits)
                .hash(&mut hash);
        }
    }
    hash.finish()
}

/// Pictures by what they show; the one not asked for the longest goes first.
#[derive(Debug, Default)]
struct Cache {
    room: usize,
    used: usize,
    clock: u64,
    /// Each with when it was asked for last.
    pictures: HashMap<u64, (u64, Bytes)>,
}

impl Cache {
    fn get(&mut self, key: u64) -> Option<Bytes> {
        let (asked, picture) = self.pictures.get_mut(&key)?;
        self.clock += 1;
        *asked = self.clock;
        Some(picture.clone())
    }

    fn insert(&mut self, key: u64, picture: Bytes) {
        if picture.len() > self.room {
            return;
        }
        self.used += picture.len();
        self.clock += 1;
        if let Some((_, old)) = self.pictures.insert(key, (self.clock, picture)) {
            self.used -= old.len();
        }
        while self.used > self.room {
            let oldest = self.pictures.iter().min_by_key(|(_, (asked, _))| *asked);
            let oldest = oldest.map(|(key, _)| *key);
            let Some((_, old)) = oldest.and_then(|key| self.pictures.remove(&key)) else {
                break;
            };
            self.used -= old.len();
        }
    }
}

#[cfg(test)]
mod tests;
