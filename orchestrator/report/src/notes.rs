//! What the calls of a trail noticed, each once over all its devices: an element that was
//! ambiguous, a reference in place of a selector, a template left as is.

use packtrain_model::StepIndex;

use crate::view::{SessionView, TrailView};
use crate::wording;

/// A note of a step, and where it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepNote {
    /// The step.
    pub step: StepIndex,
    /// What was noticed.
    pub text: String,
    /// Positions of the sessions among the trail's, in planning order.
    pub sessions: Vec<usize>,
}

impl StepNote {
    /// The notes of the attempts that count, in the order of the steps.
    pub fn of(trail: &TrailView) -> Vec<Self> {
        let mut notes: Vec<Self> = Vec::new();
        for (position, session) in trail.sessions.iter().enumerate() {
            let steps = session
                .last()
                .into_iter()
                .flat_map(|attempt| &attempt.steps);
            for (step, text) in steps.flat_map(|own| own.notes().into_iter().map(|n| (own.step, n)))
            {
                let known = notes
                    .iter_mut()
                    .find(|one| one.step == step && one.text == text);
                match known {
                    Some(note) => note.sessions.push(position),
                    None => notes.push(Self {
                        step,
                        text: text.to_owned(),
                        sessions: vec![position],
                    }),
                }
            }
        }
        notes.sort_by_key(|note| note.step);
        notes
    }

    /// Which of the trail's devices: `on web/desktop`, `on 2 of 6 devices`; empty for all of them.
    pub fn who(&self, trail: &TrailView) -> String {
        match (&self.sessions[..], trail.sessions.len()) {
            (some, all) if some.len() == all => String::new(),
            (&[only], _) => {
                let name = trail.sessions.get(only).map(SessionView::name);
                format!("on {}", wording::one_line(&name.unwrap_or_default()))
            }
            (some, all) => format!("on {} of {all} devices", some.len()),
        }
    }
}
