//! What is kept of a screen for comparison: its tree and its picture, each stored once however often it
//! is seen, its defects, and what went wrong meanwhile.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::time::Duration;

use packtrain_compare::{defects, normal};
use packtrain_drivers::{
    Command, DeviceEvent, Hidden, ObserveOptions, Observed, Platform, Rect, Screenshot,
};
use packtrain_model::memory::Redactor;
use packtrain_model::screen::{Observation, ObservedPicture, ObservedTree, ScreenTree};
use packtrain_model::{ArtifactKind, RunEvent, StepIndex};
use regex::Regex;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::journal::{ArtifactContent, NewArtifact};
use crate::order::Mask;
use crate::session::SessionContext;

/// So many characters of an element's name are reported.
const LONGEST_TOLD: usize = 100;
/// How long a screen may take to be still.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long observing may take in all, and which part of the session's time at most.
const OBSERVE_TIMEOUT: Duration = Duration::from_secs(10);
const OBSERVE_SHARE: u32 = 8;
/// After so many screens in a row that could not be looked at, no more are: the time is the steps'.
const GIVE_UP_AFTER: u32 = 2;

/// Errors and failed requests of a step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ErrorCounts {
    pub(crate) console: u32,
    pub(crate) failed_requests: u32,
}

impl ErrorCounts {
    pub(crate) fn count(&mut self, event: &DeviceEvent) {
        match event {
            DeviceEvent::Logged { level, .. } if level == "error" || level == "warning" => {
                self.console += 1;
            }
            DeviceEvent::PageFailed { .. } | DeviceEvent::Crashed { .. } => self.console += 1,
            DeviceEvent::RequestFailed { .. } => self.failed_requests += 1,
            _ => {}
        }
    }
}

impl SessionContext {
    /// Looks at the screen once it is still. `None` when it could not be looked at: whatever goes
    /// wrong here is not a failure of the step.
    pub(crate) async fn observe(&self, picture: bool) -> Option<Observed> {
        if self.unobserved.load(Ordering::Relaxed) >= GIVE_UP_AFTER {
            return None;
        }
        let masks = self.options.masks.iter().filter_map(|mask| match mask {
            Mask::Css(selector) => Some(selector.clone()),
            Mask::Text(_) | Mask::Rect(_) => None,
        });
        let command = Command::Observe(ObserveOptions {
            picture,
            still_within: SETTLE_TIMEOUT,
            masks: masks.collect(),
        });
        let limit = OBSERVE_TIMEOUT.min(self.options.timeout / OBSERVE_SHARE);
        let deadline = Instant::now() + limit;
        match self.scope.execute(command, deadline).await {
            Ok(packtrain_drivers::Observation::Observed(observed)) => {
                self.unobserved.store(0, Ordering::Relaxed);
                Some(*observed)
            }
            other => {
                self.unobserved.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(session = %self.id, ?other, "the screen was not observed");
                None
            }
        }
    }

    /// Stores what was observed and journals it.
    pub(crate) async fn keep_observation(
        &self,
        step: StepIndex,
        observed: Observed,
        troubles: ErrorCounts,
    ) {
        let Observed {
            snapshot,
            picture,
            masked,
            mut defects,
            settled,
            is_still,
            hidden,
        } = observed;
        let mut tree = normal::screen(&snapshot);
        tree.hidden.extend(hidden);
        tree.hidden.truncate(Hidden::MAX);
        if self.scope.lease.device().id.platform() != Platform::Web {
            defects.extend(defects::of(&tree));
        }
        let css = self
            .options
            .masks
            .iter()
            .filter(|mask| matches!(mask, Mask::Css(_)));
        let css = css
            .zip(masked)
            .map(|(mask, found)| (mask, found.unwrap_or_default()));
        let (mut masked, idle_masks) = masks(&self.options.masks, css.collect(), &tree);
        {
            let memory = self.scope.memory();
            masked.extend(secrets(memory.redactor(), &tree));
            redact(&mut tree, memory.redactor());
            for defect in &mut defects {
                let texts = [&mut defect.element].into_iter().chain(&mut defect.other);
                told(texts, memory.redactor());
            }
        }
        let (tree, bytes) = stored(tree);
        self.share(step, ArtifactKind::ScreenTree, &tree.artifact, bytes)
            .await;
        let picture = match picture {
            Some(picture) => self.keep_picture(step, picture, &masked).await,
            None => None,
        };
        self.record(RunEvent::StepObserved {
            session: self.id.clone(),
            step,
            observed: Observation {
                tree: Some(tree),
                picture,
                defects,
                console: troubles.console,
                failed_requests: troubles.failed_requests,
                settled_ms: u32::try_from(settled.as_millis()).unwrap_or(u32::MAX),
                unsettled: !is_still,
                idle_masks,
            },
        })
        .await;
    }

    /// Stores a picture under its content.
    pub(crate) async fn keep_picture(
        &self,
        step: StepIndex,
        picture: Screenshot,
        masked: &[Rect],
    ) -> Option<ObservedPicture> {
        let (width, height) = png_size(&picture.png)?;
        let scale = f64::from(width) / picture.screen.width.max(1.0);
        let pixels = |edge: f64| (edge * scale).round() as i32;
        let digest = digest(&picture.png);
        let artifact = format!("pictures/{digest}.png");
        self.share(step, ArtifactKind::Screenshot, &artifact, picture.png)
            .await;
        Some(ObservedPicture {
            digest,
            artifact,
            width,
            height,
            scale,
            masked: masked
                .iter()
                .map(|rect| [rect.left, rect.top, rect.right, rect.bottom].map(pixels))
                .collect(),
        })
    }

    async fn share(&self, step: StepIndex, kind: ArtifactKind, path: &str, bytes: Vec<u8>) {
        self.output
            .save(NewArtifact {
                session: self.id.clone(),
                step,
                kind,
                name: path.to_owned(),
                content: ArtifactContent::Shared(bytes),
            })
            .await;
    }
}

/// The rectangles that masks hide, and the masks that hide nothing.
fn masks(
    all: &[Mask],
    css: Vec<(&Mask, Vec<Rect>)>,
    tree: &ScreenTree,
) -> (Vec<Rect>, Vec<String>) {
    let (mut masked, mut idle) = (Vec::new(), Vec::new());
    for mask in all {
        let (found, name) = match mask {
            Mask::Css(selector) => {
                let found = css.iter().find(|(known, _)| *known == mask);
                (
                    found.map(|(_, found)| found.clone()).unwrap_or_default(),
                    selector,
                )
            }
            Mask::Text(pattern) => (texts(pattern, tree), pattern),
            Mask::Rect(rect) => {
                masked.push(*rect);
                continue;
            }
        };
        if found.is_empty() {
            idle.push(name.clone());
        }
        masked.extend(found);
    }
    (masked, idle)
}

fn texts(pattern: &str, tree: &ScreenTree) -> Vec<Rect> {
    // It was checked with the configuration.
    let pattern = Regex::new(pattern).ok();
    pattern.map_or_else(Vec::new, |pattern| {
        showing(tree, |text| pattern.is_match(text))
    })
}

/// Where secrets are shown: they are not compared, and no baseline has them.
fn secrets(redactor: &Redactor, tree: &ScreenTree) -> Vec<Rect> {
    if redactor.is_empty() {
        return Vec::new();
    }
    showing(tree, |text| matches!(redactor.redact(text), Cow::Owned(_)))
}

/// Where elements are with such a text.
fn showing(tree: &ScreenTree, shows: impl Fn(&str) -> bool) -> Vec<Rect> {
    let nodes = tree.nodes.iter();
    nodes
        .filter(|node| shows(&node.name) || node.value.as_deref().is_some_and(&shows))
        .filter_map(|node| node.bounds)
        .map(|bounds| {
            let [left, top, right, bottom] = bounds.map(f64::from);
            Rect {
                left,
                top,
                right,
                bottom,
            }
        })
        .collect()
}

fn redact(tree: &mut ScreenTree, redactor: &Redactor) {
    for hidden in &mut tree.hidden {
        let texts = [&mut hidden.element].into_iter().chain(&mut hidden.behind);
        told(texts, redactor);
    }
    if redactor.is_empty() {
        return;
    }
    redactor.redact_all(tree.title.iter_mut().chain(&mut tree.location));
    for node in &mut tree.nodes {
        let texts = [&mut node.name]
            .into_iter()
            .chain(&mut node.value)
            .chain(&mut node.id);
        redactor.redact_all(texts);
    }
}

/// What elements are called, without secrets, and then no longer than a reader wants it.
fn told<'a>(texts: impl Iterator<Item = &'a mut String>, redactor: &Redactor) {
    for text in texts {
        redactor.redact_all([&mut *text]);
        if let Some((end, _)) = text.char_indices().nth(LONGEST_TOLD) {
            text.truncate(end);
            text.push('…');
        }
    }
}

/// A tree as it is journalled, and its file.
fn stored(mut tree: ScreenTree) -> (ObservedTree, Vec<u8>) {
    let bytes = normal::json(&tree);
    let hides = !std::mem::take(&mut tree.hidden).is_empty();
    let shown = hides.then(|| digest(&normal::json(&tree)));
    let digest = digest(&bytes);
    let observed = ObservedTree {
        artifact: format!("trees/{digest}.json"),
        nodes: u32::try_from(tree.nodes.len()).unwrap_or(u32::MAX),
        digest,
        shown,
    };
    (observed, bytes)
}

/// The first 16 hex digits of the SHA-256.
fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Width and height from a PNG's header.
fn png_size(png: &[u8]) -> Option<(u32, u32)> {
    let header = png.get(..24)?;
    let number = |at: usize| {
        header
            .get(at..at + 4)
            .and_then(|bytes| bytes.try_into().ok())
            .map(u32::from_be_bytes)
    };
    header.starts_with(b"\x89PNG").then_some(())?;
    Some((number(16)?, number(20)?))
}

#[cfg(test)]
mod tests {
    use packtrain_drivers::HiddenBecause;

    use super::*;

    #[test]
    fn what_is_hidden_is_stored_without_secrets_and_makes_no_other_screen() {
        let hiding = |element: &str, behind: &str| ScreenTree {
            hidden: vec![Hidden {
                element: element.to_owned(),
                why: HiddenBecause::Closed,
                behind: Some(behind.to_owned()),
            }],
            ..ScreenTree::default()
        };
        let mut secret = hiding("text \"hunter2\"", "button \"Show hunter2\"");
        let secrets = [("password".to_owned(), "hunter2".to_owned())];
        redact(&mut secret, &Redactor::of(&secrets));
        assert_eq!(
            secret,
            hiding("text \"{{password}}\"", "button \"Show {{password}}\"")
        );
        // A secret at the end of the reported text is not one that was cut off.
        let long = format!(
            "text \"{} hunter2 and more\"",
            "x".repeat(LONGEST_TOLD - 10)
        );
        let mut cut = hiding(&long, "");
        redact(&mut cut, &Redactor::of(&secrets));
        let kept = &cut.hidden[0].element;
        assert!(kept.ends_with("…") && !kept.contains("hun"), "{kept}");
        let (one, bytes) = stored(secret.clone());
        let (other, _) = stored(hiding("link \"Basket\"", "button \"Menu\""));
        let (plain, _) = stored(ScreenTree::default());
        assert_eq!(
            serde_json::from_slice::<ScreenTree>(&bytes).unwrap(),
            secret
        );
        assert_eq!(one.artifact, format!("trees/{}.json", one.digest));
        assert_ne!(one.digest, other.digest);
        assert_eq!([one.shown(), other.shown()], [plain.digest.as_str(); 2]);
        assert_eq!((plain.shown(), &plain.shown), (&*plain.digest, &None));
    }
}
