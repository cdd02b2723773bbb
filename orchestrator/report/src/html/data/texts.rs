//! The screens' texts and logs of steps that went wrong, within a limit.

use packtrain_model::{Artifact, ArtifactKind};

use super::shape::Text;
use crate::view::StepView;
use crate::wording;

/// Longest screen text kept, in characters.
const LONGEST_SCREEN: usize = 64_000;
/// How much screen text is kept altogether, in bytes.
const SCREENS_LIMIT: usize = 6 * 1024 * 1024;

/// The screens' texts kept so far.
pub(super) struct Texts<'a> {
    pub(super) kept: Vec<String>,
    left: usize,
    artifact: &'a mut dyn FnMut(&str) -> Option<Vec<u8>>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(artifact: &'a mut dyn FnMut(&str) -> Option<Vec<u8>>) -> Self {
        Self {
            kept: Vec::new(),
            left: SCREENS_LIMIT,
            artifact,
        }
    }

    /// The screen of a step that went wrong: its compact list, or its tree when there is none;
    /// and what the device's log says.
    pub(super) fn of(&mut self, step: &StepView) -> Vec<Text> {
        let of_kind = |kind| step.artifacts.iter().rev().find(move |a| a.kind == kind);
        let text = of_kind(ArtifactKind::Snapshot);
        let tree = of_kind(ArtifactKind::Tree).filter(|_| text.is_none());
        let texts = [
            ("The screen at the end, as text", text),
            ("The screen at the end, as a tree", tree),
            ("The device's log", of_kind(ArtifactKind::DeviceLog)),
        ];
        let mut kept = |artifact: Option<&Artifact>| self.keep(artifact?);
        let kept = texts.into_iter().filter_map(|(label, artifact)| {
            let n = kept(artifact)?;
            Some(Text { label, n })
        });
        kept.collect()
    }

    fn keep(&mut self, artifact: &Artifact) -> Option<usize> {
        if self.left == 0 {
            return None;
        }
        let bytes = (self.artifact)(&artifact.path)?;
        let text = String::from_utf8_lossy(&bytes);
        let text = wording::cut(&text, LONGEST_SCREEN).into_owned();
        self.left = self.left.saturating_sub(text.len());
        self.kept.push(text);
        Some(self.kept.len() - 1)
    }
}
