//! When two devices went alike: the same end at the same step with the same words, once what
//! differs by nature - the device's name, times, ports, references - is taken out of them.

use std::borrow::Cow;

use packtrain_model::{Blame, Outcome, StepIndex};
use regex::Regex;

use crate::mark::Mark;
use crate::view::{SessionView, Status};

/// How a session went, as far as grouping is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Signature {
    /// All came true, except for these steps, which were skipped.
    Passed { skipped: Vec<StepIndex> },
    /// The whole trail was skipped.
    Skipped { reason: String },
    /// It left the way.
    CameOff {
        mark: Mark,
        /// Whom an infrastructure error blames.
        blame: Option<Blame>,
        /// Where; `None` when no step was reached.
        step: Option<StepIndex>,
        message: String,
    },
    /// It did not get to an end of its own: never begun, under way, called off.
    Open { mark: Mark },
}

impl Signature {
    pub(super) const fn is_pass(&self) -> bool {
        matches!(self, Self::Passed { .. })
    }
}

/// The steps a session was told to skip.
pub(super) fn skipped(session: &SessionView) -> Vec<StepIndex> {
    session
        .last()
        .into_iter()
        .flat_map(|attempt| &attempt.steps)
        .filter(|step| step.mark() == Mark::Skipped)
        .map(|step| step.step)
        .collect()
}

/// Reads signatures.
pub(super) struct Signatures {
    /// What differs by nature, and what to read instead.
    vary: Vec<(Regex, &'static str)>,
}

impl Signatures {
    pub(super) fn new() -> Self {
        let vary = [
            // 3.2 s, 250ms, 1m 04s
            (
                r"\b\d+(?:\.\d+)?\s?(?:ms|s|sec|seconds?|min|minutes?)\b",
                "<time>",
            ),
            (r"\b0x[0-9a-fA-F]+\b", "<address>"),
            (
                r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
                "<id>",
            ),
            (r"\b(?:localhost|\d{1,3}(?:\.\d{1,3}){3}):\d+\b", "<host>"),
            // (12, 340), [0,63][1080,210]
            (r"[(\[]-?\d+(?:\.\d+)?,\s?-?\d+(?:\.\d+)?[)\]]", "<point>"),
            (r"\bref(?:erence)? [a-z]+\d+\b", "<ref>"),
            (r"\s+", " "),
        ]
        .map(|(pattern, instead)| {
            let pattern = Regex::new(pattern)
                .expect("the patterns are fixed, and every test of this file compiles them");
            (pattern, instead)
        });
        Self { vary: vary.into() }
    }

    pub(super) fn of(&self, session: &SessionView) -> Signature {
        let open = Signature::Open {
            mark: Mark::of(&session.status),
        };
        match session.status.outcome() {
            None | Some(Outcome::Cancelled { .. }) => open,
            Some(Outcome::Passed) => Signature::Passed {
                skipped: skipped(session),
            },
            Some(Outcome::Skipped { reason }) => Signature::Skipped {
                reason: reason.clone(),
            },
            Some(
                Outcome::Failed(_) | Outcome::NeedsAgent { .. } | Outcome::Infrastructure { .. },
            ) => {
                let bad = session.last().and_then(|attempt| attempt.first_bad_step());
                let said = bad.map_or(&session.status, |step| &step.status);
                Signature::CameOff {
                    mark: Mark::of(said),
                    blame: said.blame(),
                    step: bad.map(|step| step.step),
                    message: self.without_variance(&said.message().unwrap_or_default(), session),
                }
            }
        }
    }

    fn without_variance(&self, message: &str, session: &SessionView) -> String {
        let mut text = message.to_owned();
        if let Some(device) = &session.device {
            text = text.replace(&device.to_string(), "<device>");
            text = replace_word(&text, device.name(), "<device>");
        }
        if let Some(info) = &session.info {
            text = replace_word(&text, &info.model, "<device>");
            // A phone without a recording names its classifiers; each is missing its own.
            if matches!(session.status, Status::Ended(Outcome::NeedsAgent { .. })) {
                text = "<classifiers>".to_owned();
            }
        }
        self.vary.iter().fold(text, |text, (pattern, instead)| {
            match pattern.replace_all(&text, *instead) {
                Cow::Borrowed(_) => text,
                Cow::Owned(changed) => changed,
            }
        })
    }
}

/// Replaces a name where it is not part of a longer word; a device called `a` must not eat
/// letters.
fn replace_word(text: &str, word: &str, instead: &str) -> String {
    if word.is_empty() {
        return text.to_owned();
    }
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(word) {
        let end = start + word.len();
        let part = |c: char| c.is_alphanumeric();
        let inside = rest[..start].chars().next_back().is_some_and(part)
            || rest[end..].chars().next().is_some_and(part);
        result.push_str(&rest[..start]);
        result.push_str(if inside { word } else { instead });
        rest = &rest[end..];
    }
    result.push_str(rest);
    result
}
