//! The screenshots that go into the file: each picture once, those of failing steps first, until
//! the limit is reached.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use packtrain_model::{Artifact, ArtifactKind, StepIndex};

use crate::view::{RunView, TrailView};

/// Where a screenshot is.
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

impl Pictures {
    pub(super) fn collect(
        view: &RunView,
        limit: u64,
        artifact: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
    ) -> Self {
        let mut wanted: Vec<(u8, &Artifact)> = view.trails.iter().flat_map(ranked).collect();
        // Stable: within a rank the run's own order decides who is linked instead.
        wanted.sort_by_key(|(rank, _)| *rank);

        let mut pictures = Self {
            by_path: HashMap::new(),
            uris: Vec::new(),
        };
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut left = limit;
        for (_, shot) in wanted {
            if pictures.by_path.contains_key(&shot.path) {
                continue;
            }
            let picture = if shot.bytes > left {
                Picture::Linked
            } else {
                match artifact(&shot.path) {
                    None => Picture::Missing,
                    Some(bytes) => pictures.keep(bytes, &mut known, &mut left),
                }
            };
            pictures.by_path.insert(shot.path.clone(), picture);
        }
        pictures
    }

    fn keep(
        &mut self,
        bytes: Vec<u8>,
        known: &mut HashMap<Vec<u8>, usize>,
        left: &mut u64,
    ) -> Picture {
        if let Some(&place) = known.get(&bytes) {
            return Picture::Inline(place);
        }
        let size = bytes.len() as u64;
        match image_type(&bytes) {
            Some(mime) if size <= *left => {
                *left -= size;
                let place = self.uris.len();
                self.uris
                    .push(format!("data:{mime};base64,{}", STANDARD.encode(&bytes)));
                known.insert(bytes, place);
                Picture::Inline(place)
            }
            Some(_) | None => Picture::Linked,
        }
    }

    pub(super) fn find(&self, path: &str) -> Picture {
        self.by_path.get(path).copied().unwrap_or(Picture::Linked)
    }

    pub(super) fn uris(&self) -> impl Iterator<Item = &str> {
        self.uris.iter().map(String::as_str)
    }
}

/// A trail's screenshots: 0 for those of a step that went wrong, 1 for those of the same step on
/// other devices, 2 for the rest.
fn ranked(trail: &TrailView) -> Vec<(u8, &Artifact)> {
    let attempts = || trail.sessions.iter().flat_map(|session| &session.attempts);
    let bad: Vec<StepIndex> = attempts()
        .filter_map(|attempt| attempt.first_bad_step())
        .map(|step| step.step)
        .collect();
    attempts()
        .flat_map(|attempt| &attempt.steps)
        .flat_map(|step| {
            let rank = match (step.is_bad(), bad.contains(&step.step)) {
                (true, _) => 0,
                (false, true) => 1,
                (false, false) => 2,
            };
            step.artifacts
                .iter()
                .filter(|artifact| artifact.kind == ArtifactKind::Screenshot)
                .map(move |artifact| (rank, artifact))
        })
        .collect()
}

/// The type of a picture by its first bytes; only types that cannot carry script.
fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}
