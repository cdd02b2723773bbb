//! Layout defects, console lines and failed requests: told as news only where the reference is without.

use super::field::Field;
use super::screens::Screens;
use super::sighting::Sightings;
use crate::answer::{ClusterKind, Occurrence};
use crate::input::{OutcomeKind, Step, StepStatus};

/// What every page logs or aborts when it is left.
const TEARDOWN: [&str; 4] = [
    "favicon",
    "ERR_ABORTED",
    "NS_BINDING_ABORTED",
    "NS_ERROR_ABORT",
];

pub(super) fn compare<'a>(field: &Field<'a>, screens: &Screens<'a>, sightings: &mut Sightings) {
    for (place, session) in field.sessions() {
        if !matches!(session.outcome, OutcomeKind::Passed | OutcomeKind::Failed) {
            continue;
        }
        for step in &session.steps {
            if step.status == StepStatus::Other {
                continue;
            }
            let baseline = field.baseline(place, step.step);
            let before = baseline.and_then(|other| field.step(other, step.step));
            let occurrence = || Occurrence {
                trail: session.trail,
                session: place,
                step: step.step,
                ..Occurrence::default()
            };
            for defect in &step.defects {
                // In the reference's words, or each language has a defect of its own.
                let called = |element: &str| {
                    baseline
                        .and_then(|other| {
                            screens.as_in_baseline(field, (place, other), step.step, element)
                        })
                        .unwrap_or_else(|| element.to_owned())
                };
                let element = called(&defect.element);
                let other = defect.other.as_deref().map(called);
                let (kind, words) = (defect.kind, defect.kind.words());
                let other = other.map(|other| format!(" {other}")).unwrap_or_default();
                let known = before.is_some_and(|before| {
                    let mut defects = before.defects.iter();
                    defects.any(|one| one.kind == kind && one.element == element)
                });
                let key = format!("defect:{kind:?}:{element}{other}");
                let by = defect.by.map(|by| format!("by {by}")).unwrap_or_default();
                let sighted = sightings.add(ClusterKind::Defect, key, occurrence(), || {
                    (format!("{element} {words}{other}"), by)
                });
                sighted.everywhere |= known;
            }
            type Lines = fn(&Step) -> &Vec<String>;
            let console: Lines = |step| &step.console;
            let network: Lines = |step| &step.failed_requests;
            let lists = [
                (ClusterKind::Console, console, "Console"),
                (ClusterKind::Network, network, "Request failed"),
            ];
            for (kind, lines, title) in lists {
                let news = lines(step)
                    .iter()
                    .filter(|line| !TEARDOWN.iter().any(|word| line.contains(word)));
                for line in news {
                    let known = before.is_some_and(|before| lines(before).contains(line));
                    let key = format!("{title}:{line}");
                    let sighted = sightings.add(kind, key, occurrence(), || {
                        (format!("{title}: {}", first_line(line)), line.clone())
                    });
                    sighted.everywhere |= known;
                }
            }
        }
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(120).collect()
}
