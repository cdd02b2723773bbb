//! From blobs to files: a run's bundle on a host.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use futures::{StreamExt, TryStreamExt};
use sha2::{Digest, Sha256};

use super::blobs::{BlobError, BlobStore, digest, get_part, hexadecimal};
use super::cache::{Bundle, Cache, CacheLimits};
use super::path::{BundlePathError, check_path, inside};
use super::{BUNDLE_BYTES, BUNDLE_FILES, IN_FLIGHT};
use crate::wire::{BundledFile, Manifest};

/// Why a bundle could not be laid down.
#[derive(Debug, thiserror::Error)]
pub enum MaterialiseError {
    /// It has a path that leads elsewhere.
    #[error(transparent)]
    Path(#[from] BundlePathError),
    /// One of its paths is a file and a folder.
    #[error("{0:?} is both a file and a folder of the bundle")]
    FileAndFolder(String),
    /// It is larger than a bundle may be.
    #[error(
        "the bundle has {files} files of {bytes} bytes in total, which is more than a host accepts"
    )]
    TooLarge {
        /// How many files.
        files: usize,
        /// Their size, in bytes.
        bytes: u64,
    },
    /// A blob is not there or something else.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// A file cannot be written.
    #[error("cannot write {path}")]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The program is about to end.
    #[error("writing was interrupted")]
    Interrupted,
}

/// Lays down the files of a run below `<cache>/bundles/`, unless they are there: the same files are
/// one folder for all users. Its files are read-only; a process that needs to write makes new ones.
///
/// # Errors
/// When the manifest is invalid, a blob is missing, or the disk refuses.
pub async fn materialise(
    manifest: &Manifest,
    store: &dyn BlobStore,
    cache: &Path,
    limits: CacheLimits,
) -> Result<Bundle, MaterialiseError> {
    check(manifest)?;
    let name = manifest.digest();
    let (folder, files) = (cache.to_owned(), manifest.files.clone());
    let wanted = name.clone();
    let (bundles, found) = blocking(move || {
        let bundles = Cache::open(&folder)?;
        let found = bundles.find(&wanted, |bundle| {
            files.iter().all(|(path, file)| {
                let found = fs::symlink_metadata(bundle.join(path));
                found.is_ok_and(|found| found.is_file() && found.len() == file.content.bytes)
            })
        })?;
        Ok((bundles, found))
    })
    .await?
    .map_err(unwritable(cache))?;
    if let Some(bundle) = found {
        return Ok(bundle);
    }
    let made = Unfinished(bundles.unfinished());
    make_folders(manifest, made.0.clone()).await?;
    let files = manifest.files.iter().map(|(path, file)| {
        let place = inside(&made.0, path);
        async move { write(place?, file, store).await }
    });
    futures::stream::iter(files.collect::<Vec<_>>())
        .buffer_unordered(IN_FLIGHT)
        .try_collect::<()>()
        .await?;
    blocking(move || {
        let bundle = bundles.place(&name, &made.0)?;
        if let Err(error) = bundles.trim(limits) {
            tracing::debug!(%error, "old bundles stay");
        }
        Ok(bundle)
    })
    .await?
    .map_err(unwritable(cache))
}

fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> MaterialiseError {
    let path = path.to_owned();
    move |source| MaterialiseError::Unwritable { path, source }
}

impl Manifest {
    /// What tells the files of one bundle from those of another: the SHA-256 of their list.
    pub fn digest(&self) -> String {
        let files = serde_json::to_vec(&self.files);
        digest(&files.unwrap_or_default())
    }
}

/// A folder that is removed unless it was put in its place.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Looks at everything that the manifest says, before anything is made of it.
fn check(manifest: &Manifest) -> Result<(), MaterialiseError> {
    let files = manifest.files.len();
    let sizes = manifest.files.values().map(|file| file.content.bytes);
    let bytes = sizes.fold(0, u64::saturating_add);
    if files > BUNDLE_FILES || bytes > BUNDLE_BYTES {
        return Err(MaterialiseError::TooLarge { files, bytes });
    }
    if !manifest.root.is_empty() {
        check_path(&manifest.root)?;
    }
    for (path, file) in &manifest.files {
        check_path(path)?;
        file.content.check(BUNDLE_BYTES)?;
        let mut folder = path.as_str();
        while let Some((above, _)) = folder.rsplit_once('/') {
            if manifest.files.contains_key(above) {
                return Err(MaterialiseError::FileAndFolder(above.to_owned()));
            }
            folder = above;
        }
    }
    if manifest.files.contains_key(&manifest.root) {
        return Err(MaterialiseError::FileAndFolder(manifest.root.clone()));
    }
    Ok(())
}

async fn make_folders(manifest: &Manifest, made: PathBuf) -> Result<(), MaterialiseError> {
    let above = |path: &String| Some(path.rsplit_once('/')?.0.to_owned());
    let folders: BTreeSet<String> = manifest.files.keys().filter_map(above).collect();
    let root = inside(&made, &manifest.root)?;
    blocking(move || {
        fs::create_dir_all(&root).map_err(unwritable(&root))?;
        for folder in folders {
            let folder = inside(&made, &folder)?;
            fs::create_dir_all(&folder).map_err(unwritable(&folder))?;
        }
        Ok(())
    })
    .await?
}

/// Writes one file, part by part; what is in it is checked on the way.
async fn write(
    place: PathBuf,
    file: &BundledFile,
    store: &dyn BlobStore,
) -> Result<(), MaterialiseError> {
    use std::os::unix::fs::OpenOptionsExt;
    let mode = if file.executable { 0o555 } else { 0o444 };
    let path = place.clone();
    // A new file: not through a link, and not one that another path has made.
    let mut open = blocking(move || {
        let mut options = fs::OpenOptions::new();
        let opened = options.write(true).create_new(true).mode(mode).open(&path);
        opened.map_err(unwritable(&path))
    })
    .await??;
    let (mut whole, mut bytes) = (Sha256::new(), 0);
    for part in file.content.part_digests() {
        let content = get_part(store, part).await?;
        whole.update(&content);
        bytes += content.len() as u64;
        let path = place.clone();
        open = blocking(move || {
            let written = open.write_all(&content).map(|()| open);
            written.map_err(unwritable(&path))
        })
        .await??;
    }
    let content = &file.content;
    if bytes != content.bytes || hexadecimal(&whole.finalize()) != content.digest {
        return Err(BlobError::Altered(content.digest.clone()).into());
    }
    Ok(())
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, MaterialiseError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| MaterialiseError::Interrupted)
}
