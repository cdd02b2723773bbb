//! The pictures that go into the file: each once, those that explain something first, until the
//! limit is reached.

use std::collections::{BTreeSet, HashMap};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use packtrain_model::{ArtifactKind, StepIndex};

use super::compared::Compared;
use super::webp;
use crate::view::{RunView, TrailView};

/// Where a picture is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Picture {
    /// In the file, at this place.
    Inline(usize),
    /// Beside it, under its own path.
    Linked,
    /// Nowhere.
    Missing,
}

/// The pictures of a run.
pub(super) struct Pictures {
    by_path: HashMap<String, Picture>,
    uris: Vec<String>,
}

/// A picture that was read and may go into the file.
struct Read<'a> {
    bytes: Vec<u8>,
    paths: Vec<&'a str>,
}

impl Pictures {
    pub(super) fn collect(
        view: &RunView,
        compared: &Compared,
        limit: u64,
        artifact: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
    ) -> Self {
        let wanted = view.trails.iter().flat_map(|trail| ranked(trail, compared));
        let mut wanted: Vec<(u8, &str, u64)> = wanted.collect();
        // Stable: within a rank the run's own order decides who is linked instead.
        wanted.sort_by_key(|(rank, ..)| *rank);

        let mut by_path: HashMap<String, Picture> = HashMap::new();
        let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut read: Vec<Read<'_>> = Vec::new();
        let mut left = limit;
        for (_, path, size) in wanted {
            if by_path.contains_key(path) {
                continue;
            }
            let mut picture = Picture::Linked;
            if size <= left && left > 0 {
                match artifact(path) {
                    None => picture = Picture::Missing,
                    Some(bytes) => {
                        let same = known.entry(fingerprint(&bytes)).or_default();
                        let kept = same.iter().find(|&&place| read[place].bytes == bytes);
                        if let Some(&place) = kept {
                            read[place].paths.push(path);
                        } else if image_type(&bytes).is_some() && bytes.len() as u64 <= left {
                            left -= bytes.len() as u64;
                            same.push(read.len());
                            let paths = vec![path];
                            read.push(Read { bytes, paths });
                        }
                    }
                }
            }
            by_path.insert(path.to_owned(), picture);
        }

        let mut left = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut uris = Vec::new();
        let sources: Vec<&[u8]> = read.iter().map(|read| &*read.bytes).collect();
        for (read, smaller) in read.iter().zip(webp::smaller(&sources)) {
            let bytes = smaller.as_ref().unwrap_or(&read.bytes);
            // What counts is what it takes in the file.
            let size = bytes.len().div_ceil(3) * 4;
            let Some(mime) = image_type(bytes).filter(|_| size <= left) else {
                continue;
            };
            left -= size;
            for path in &read.paths {
                by_path.insert((*path).to_owned(), Picture::Inline(uris.len()));
            }
            uris.push(format!("data:{mime};base64,{}", STANDARD.encode(bytes)));
        }
        Self { by_path, uris }
    }

    pub(super) fn find(&self, path: &str) -> Picture {
        self.by_path.get(path).copied().unwrap_or(Picture::Linked)
    }

    pub(super) fn uris(&self) -> impl Iterator<Item = &str> {
        self.uris.iter().map(String::as_str)
    }
}

/// A trail's pictures by path, with their size where it is known: 0 for those of a step that went
/// wrong or is compared, 1 for those of the same step elsewhere, 2 for the rest.
fn ranked<'a>(
    trail: &'a TrailView,
    compared: &'a Compared,
) -> impl Iterator<Item = (u8, &'a str, u64)> {
    let attempts = || trail.sessions.iter().flat_map(|session| &session.attempts);
    let bad = attempts().filter_map(|attempt| attempt.first_bad_step());
    let bad: BTreeSet<StepIndex> = bad.map(|step| step.step).collect();
    attempts().flat_map(move |attempt| {
        let bad = bad.clone();
        attempt.steps.iter().flat_map(move |step| {
            let is_compared = compared.has(&attempt.id.0, step.step);
            let rank = match (step.is_bad() || is_compared, bad.contains(&step.step)) {
                (true, _) => 0,
                (false, true) => 1,
                (false, false) => 2,
            };
            let screenshots = step.artifacts.iter();
            let screenshots = screenshots.filter(|one| one.kind == ArtifactKind::Screenshot);
            let screenshots = screenshots.map(|one| (one.path.as_str(), one.bytes));
            let observed = step.observed.iter().filter_map(|o| o.picture.as_ref());
            let observed = observed.map(|picture| (picture.artifact.as_str(), 0));
            let both = observed.chain(screenshots);
            both.map(move |(path, size)| (rank, path, size))
                .collect::<Vec<_>>()
        })
    })
}

/// Tells pictures apart well enough to compare few of them whole (FNV-1a over words).
fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64;
    for word in bytes.chunks(8) {
        let mut whole = [0; 8];
        whole[..word.len()].copy_from_slice(word);
        hash = (hash ^ u64::from_le_bytes(whole)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

/// The type of a picture by its first bytes; only types that cannot carry script.
fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        _ if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") => Some("image/webp"),
        _ => None,
    }
}
