//! Contents of files, stored once per fleet however many devices hold them: a thousand devices
//! that are sent the same agent cost its size once.
//!
//! Contents are cut into chunks while they stream in; equal chunks are one. Beyond a cap, chunks
//! go to a temporary file.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, OnceLock, Weak};

use bytes::Bytes;
use md5::{Digest, Md5};
use parking_lot::Mutex;

/// Bytes of a chunk.
const CHUNK: usize = 64 * 1024;

/// The contents of a fleet's files.
#[derive(Debug)]
pub struct Blobs {
    cap: usize,
    store: Mutex<Store>,
}

#[derive(Debug, Default)]
struct Store {
    /// Chunks by a hash of their bytes; equal hashes are compared byte by byte.
    chunks: HashMap<u64, Vec<Weak<Chunk>>>,
    /// Whole contents by the addresses of their chunks, so that sums are computed once.
    blobs: HashMap<Vec<usize>, Weak<Contents>>,
    in_memory: usize,
    spilled: Option<File>,
    /// Slots of the file, a chunk each, that are free again.
    free: Vec<u64>,
    slots: u64,
}

#[derive(Debug)]
struct Chunk {
    blobs: Weak<Blobs>,
    hash: u64,
    length: usize,
    place: Storage,
}

#[derive(Debug)]
enum Storage {
    Memory(Bytes),
    Slot(u64),
}

/// The contents of one file; cheap to clone.
#[derive(Debug, Clone)]
pub struct Blob(Arc<Contents>);

#[derive(Debug)]
struct Contents {
    chunks: Vec<Arc<Chunk>>,
    length: u64,
    md5: OnceLock<[u8; 16]>,
}

/// Takes contents in while they stream.
#[derive(Debug)]
pub struct BlobWriter {
    blobs: Arc<Blobs>,
    chunks: Vec<Arc<Chunk>>,
    length: u64,
    rest: Vec<u8>,
}

/// A spilled chunk could not be written or read.
#[derive(Debug, thiserror::Error)]
#[error("the temporary file for contents: {0}")]
pub struct SpillError(#[from] std::io::Error);

fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Blobs {
    /// A store that keeps at most `cap` bytes in memory.
    pub fn new(cap: usize) -> Arc<Self> {
        Arc::new(Self {
            cap,
            store: Mutex::new(Store::default()),
        })
    }

    /// Begins to take contents in.
    pub fn writer(self: &Arc<Self>) -> BlobWriter {
        BlobWriter {
            blobs: self.clone(),
            chunks: Vec::new(),
            length: 0,
            rest: Vec::new(),
        }
    }

    /// Stores `bytes`.
    ///
    /// # Errors
    /// When they had to go to disk and could not.
    pub fn put(self: &Arc<Self>, bytes: &[u8]) -> Result<Blob, SpillError> {
        let mut writer = self.writer();
        writer.write(bytes)?;
        writer.finish()
    }

    /// Bytes of contents that are in memory.
    pub fn in_memory(&self) -> usize {
        self.store.lock().in_memory
    }

    fn chunk(self: &Arc<Self>, bytes: &[u8]) -> Result<Arc<Chunk>, SpillError> {
        let hash = hash_of(bytes);
        // Held outside of the lock: dropping a chunk's last owner locks the store.
        let known: Vec<Arc<Chunk>> = (self.store.lock().chunks.get(&hash).into_iter().flatten())
            .filter_map(Weak::upgrade)
            .collect();
        for chunk in &known {
            if chunk.length == bytes.len() && *chunk.bytes()? == *bytes {
                return Ok(chunk.clone());
            }
        }
        let mut store = self.store.lock();
        let place = if store.in_memory + bytes.len() <= self.cap {
            store.in_memory += bytes.len();
            Storage::Memory(Bytes::copy_from_slice(bytes))
        } else {
            Storage::Slot(store.spill(bytes)?)
        };
        let chunk = Arc::new(Chunk {
            blobs: Arc::downgrade(self),
            hash,
            length: bytes.len(),
            place,
        });
        store
            .chunks
            .entry(hash)
            .or_default()
            .push(Arc::downgrade(&chunk));
        Ok(chunk)
    }
}

impl Store {
    fn spill(&mut self, bytes: &[u8]) -> Result<u64, SpillError> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        if self.spilled.is_none() {
            self.spilled = Some(tempfile::tempfile()?);
        }
        if let Some(file) = &mut self.spilled {
            file.seek(SeekFrom::Start(slot * CHUNK as u64))?;
            file.write_all(bytes)?;
        }
        Ok(slot)
    }

    fn read_slot(&mut self, slot: u64, length: usize) -> Result<Bytes, SpillError> {
        let mut bytes = vec![0; length];
        if let Some(file) = &mut self.spilled {
            file.seek(SeekFrom::Start(slot * CHUNK as u64))?;
            file.read_exact(&mut bytes)?;
        }
        Ok(bytes.into())
    }
}

impl Chunk {
    fn bytes(&self) -> Result<Bytes, SpillError> {
        match (&self.place, self.blobs.upgrade()) {
            (Storage::Memory(bytes), _) => Ok(bytes.clone()),
            (Storage::Slot(slot), Some(blobs)) => blobs.store.lock().read_slot(*slot, self.length),
            // The file went with its store.
            (Storage::Slot(_), None) => {
                Err(std::io::Error::from(std::io::ErrorKind::NotFound).into())
            }
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        let Some(blobs) = self.blobs.upgrade() else {
            return;
        };
        let mut store = blobs.store.lock();
        match &self.place {
            Storage::Memory(bytes) => store.in_memory -= bytes.len(),
            Storage::Slot(slot) => store.free.push(*slot),
        }
        if let Some(same) = store.chunks.get_mut(&self.hash) {
            same.retain(|chunk| chunk.strong_count() > 0);
            if same.is_empty() {
                store.chunks.remove(&self.hash);
            }
        }
    }
}

impl BlobWriter {
    /// Takes more in.
    ///
    /// # Errors
    /// When it had to go to disk and could not.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<(), SpillError> {
        self.length += bytes.len() as u64;
        while !bytes.is_empty() {
            let take = bytes.len().min(CHUNK - self.rest.len());
            if self.rest.is_empty() && take == CHUNK {
                self.chunks.push(self.blobs.chunk(&bytes[..take])?);
            } else {
                self.rest.extend_from_slice(&bytes[..take]);
                if self.rest.len() == CHUNK {
                    self.chunks.push(self.blobs.chunk(&self.rest)?);
                    self.rest.clear();
                }
            }
            bytes = &bytes[take..];
        }
        Ok(())
    }

    /// How much was taken in, in bytes.
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// The whole.
    ///
    /// # Errors
    /// As [`BlobWriter::write`].
    pub fn finish(mut self) -> Result<Blob, SpillError> {
        if !self.rest.is_empty() {
            self.chunks.push(self.blobs.chunk(&self.rest)?);
        }
        let chunks = self.chunks.iter();
        let key: Vec<usize> = chunks.map(|chunk| Arc::as_ptr(chunk) as usize).collect();
        let mut store = self.blobs.store.lock();
        // It has the very chunks, so that none of them goes with this writer.
        if let Some(known) = store.blobs.get(&key).and_then(Weak::upgrade) {
            return Ok(Blob(known));
        }
        let contents = Arc::new(Contents {
            chunks: self.chunks,
            length: self.length,
            md5: OnceLock::new(),
        });
        store.blobs.insert(key, Arc::downgrade(&contents));
        if store.blobs.len() > 1024 {
            store.blobs.retain(|_, known| known.strong_count() > 0);
        }
        Ok(Blob(contents))
    }
}

impl Blob {
    /// How long it is, in bytes.
    pub fn length(&self) -> u64 {
        self.0.length
    }

    /// Its parts in order.
    ///
    /// # Errors
    /// When a part is on disk and cannot be read.
    pub fn parts(&self) -> impl Iterator<Item = Result<Bytes, SpillError>> {
        self.0.chunks.iter().map(|chunk| chunk.bytes())
    }

    /// All of it, at most `most` bytes.
    ///
    /// # Errors
    /// As [`Blob::parts`].
    pub fn read(&self, most: usize) -> Result<Vec<u8>, SpillError> {
        let mut out = Vec::new();
        for part in self.parts() {
            let part = part?;
            let take = part.len().min(most - out.len());
            out.extend_from_slice(&part[..take]);
            if out.len() == most {
                break;
            }
        }
        Ok(out)
    }

    /// Reads from `at` on into `buffer`; how much, 0 at the end.
    ///
    /// # Errors
    /// As [`Blob::parts`].
    pub fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<usize, SpillError> {
        // All chunks but the last are full.
        let index = usize::try_from(at / CHUNK as u64).unwrap_or(usize::MAX);
        let within = (at % CHUNK as u64) as usize;
        let Some(chunk) = self.0.chunks.get(index) else {
            return Ok(0);
        };
        let part = chunk.bytes()?;
        let rest = part.get(within..).unwrap_or(&[]);
        let take = rest.len().min(buffer.len());
        buffer[..take].copy_from_slice(&rest[..take]);
        Ok(take)
    }

    /// Its MD5, computed once per contents.
    ///
    /// # Errors
    /// As [`Blob::parts`].
    pub fn md5(&self) -> Result<[u8; 16], SpillError> {
        if let Some(known) = self.0.md5.get() {
            return Ok(*known);
        }
        let mut sum = Md5::new();
        for part in self.parts() {
            sum.update(&part?);
        }
        Ok(*self.0.md5.get_or_init(|| sum.finalize().into()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_contents_are_stored_once_and_forgotten_with_their_last_owner() {
        let blobs = Blobs::new(usize::MAX);
        let bytes: Vec<u8> = (0..200_000_u32).map(|i| (i / 3) as u8).collect();
        let copies: Vec<_> = (0..50)
            .map(|_| blobs.put(&bytes).expect("stored"))
            .collect();
        assert!(blobs.in_memory() <= bytes.len());
        let one = blobs.put(&bytes).expect("stored");
        assert!(copies.iter().all(|copy| Arc::ptr_eq(&copy.0, &one.0)));
        drop((copies, one));
        assert_eq!(blobs.in_memory(), 0);
        assert!(blobs.store.lock().chunks.is_empty());
    }

    #[test]
    fn beyond_the_cap_contents_go_to_disk_and_come_back() {
        let blobs = Blobs::new(100_000);
        let bytes: Vec<u8> = (0..400_000_u32).map(|i| (i * 7 % 251) as u8).collect();
        let blob = blobs.put(&bytes).expect("stored");
        assert!(blobs.in_memory() <= 100_000);
        assert_eq!(blob.read(usize::MAX).expect("read"), bytes);
        assert!(Arc::ptr_eq(&blob.0, &blobs.put(&bytes).expect("stored").0));
        drop(blob);
        let slots = blobs.store.lock().slots;
        let again = blobs.put(&bytes).expect("stored");
        assert_eq!(again.length(), 400_000);
        assert_eq!(blobs.store.lock().slots, slots, "slots are used again");
    }

    #[test]
    fn the_sum_is_the_known_one() {
        let blob = Blobs::new(1 << 20).put(b"hello").expect("stored");
        let hex: String = blob
            .md5()
            .expect("summed")
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(hex, "5d41402abc4b2a76b9719d911017c592");
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out_however_it_was_cut(
            pieces in proptest::collection::vec((0..90_000_usize, any::<u8>()), 0..6),
            cap in 0..200_000_usize,
        ) {
            let blobs = Blobs::new(cap);
            let mut writer = blobs.writer();
            // Pieces are long so that they cross chunks; only their lengths and one byte are random.
            let pieces: Vec<Vec<u8>> = (pieces.into_iter())
                .map(|(length, byte)| (0..length).map(|i| (i / 7) as u8 ^ byte).collect())
                .collect();
            for piece in &pieces {
                writer.write(piece).expect("taken in");
            }
            let blob = writer.finish().expect("stored");
            let whole = pieces.concat();
            prop_assert_eq!(blob.length(), whole.len() as u64);
            prop_assert_eq!(blob.read(usize::MAX).expect("read"), whole);
        }
    }
}
