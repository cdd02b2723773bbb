//! Projects that travel.

mod arriving;
mod leaving;

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use packtrain_drivers::BoxFuture;
use packtrain_model::RunId;
use parking_lot::Mutex;
use tempfile::TempDir;

use super::*;
use crate::wire::Manifest;

/// Blobs in memory.
#[derive(Default)]
struct MemoryBlobs(Mutex<HashMap<String, Bytes>>);

impl MemoryBlobs {
    /// How many blobs there are.
    fn len(&self) -> usize {
        self.blobs().len()
    }

    /// Puts something else in the place of a blob, or takes it away.
    fn alter(&self, digest: &str, content: Option<Bytes>) {
        let mut blobs = self.blobs();
        match content {
            Some(content) => blobs.insert(digest.to_owned(), content),
            None => blobs.remove(digest),
        };
    }

    fn blobs(&self) -> parking_lot::MutexGuard<'_, HashMap<String, Bytes>> {
        self.0.lock()
    }
}

impl BlobStore for MemoryBlobs {
    fn has<'a>(&'a self, digest: &'a str) -> BoxFuture<'a, Result<bool, BlobError>> {
        let has = self.blobs().contains_key(digest);
        Box::pin(async move { Ok(has) })
    }

    fn put<'a>(&'a self, digest: &'a str, content: Bytes) -> BoxFuture<'a, Result<(), BlobError>> {
        self.blobs().insert(digest.to_owned(), content);
        Box::pin(async { Ok(()) })
    }

    fn get<'a>(&'a self, digest: &'a str) -> BoxFuture<'a, Result<Bytes, BlobError>> {
        let found = self.blobs().get(digest).cloned();
        Box::pin(async move { found.ok_or_else(|| BlobError::Missing(digest.to_owned())) })
    }
}

/// A project on one computer, a store, and the cache of another computer.
struct Lab {
    folder: TempDir,
    store: MemoryBlobs,
}

impl Lab {
    fn new(files: &[(&str, &str)]) -> Self {
        let lab = Self {
            folder: TempDir::new().unwrap(),
            store: MemoryBlobs::default(),
        };
        fs::create_dir_all(lab.project()).unwrap();
        for (path, text) in files {
            lab.write(&lab.project().join(path), text);
        }
        lab
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("home/shop")
    }

    fn elsewhere(&self) -> PathBuf {
        self.folder.path().join("elsewhere")
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn write(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn collect(&self) -> Collected {
        self.collect_with(&[], &[], CollectOptions::default())
            .unwrap()
    }

    fn collect_with(
        &self,
        trails: &[PathBuf],
        extra: &[PathBuf],
        options: CollectOptions,
    ) -> Result<Collected, CollectError> {
        let options = CollectOptions {
            is_project: true,
            ..options
        };
        collect(&self.project(), trails, extra, &options)
    }

    async fn materialise(&self, manifest: &Manifest) -> Result<Bundle, MaterialiseError> {
        let limits = CacheLimits::default();
        materialise(manifest, &self.store, &self.cache(), limits).await
    }

    /// What lies in the cache's folder of bundles, without locks.
    fn cached(&self) -> Vec<String> {
        let entries = fs::read_dir(self.cache().join("bundles")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.ends_with("lock")).collect()
    }
}

fn run() -> RunId {
    RunId("r1".to_owned())
}

fn manifest(collected: &Collected) -> Manifest {
    collected.manifest(run(), false, Vec::new())
}

fn paths(collected: &Collected) -> Vec<String> {
    manifest(collected).files.into_keys().collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
