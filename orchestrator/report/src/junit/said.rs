//! What the XML says of a session in words: messages, descriptions, what the device reported.

use packtrain_model::{Cell, Outcome};
use quick_junit::Property;

use crate::paths::relative;
use crate::reported::Reported;
use crate::view::{AttemptView, Status, TrailView};
use crate::wording;

/// One line: the step and what went wrong with it.
pub(super) fn message(
    trail: &TrailView,
    attempt: Option<&AttemptView>,
    status: &Status,
) -> Option<String> {
    let bad = attempt.and_then(AttemptView::first_bad_step);
    let status = bad.map_or(status, |step| step.status.or(status));
    let said = blamed(status, &wording::one_line(&status.message()?));
    Some(match bad {
        None => said,
        Some(step) => match trail.step(step.step) {
            Some(known) => format!("{} \"{}\": {said}", wording::step(step.step), known.text),
            None => format!("{}: {said}", wording::step(step.step)),
        },
    })
}

/// A message behind the words that say whom an infrastructure error blames.
fn blamed(status: &Status, message: &str) -> String {
    match status.blame() {
        Some(_) => format!("{}: {message}", status.word()),
        None => message.to_owned(),
    }
}

/// What went wrong at length: message, hint, place, what was tried.
pub(super) fn description(trail: &TrailView, attempt: &AttemptView, here: &str) -> String {
    let bad = attempt.first_bad_step();
    let status = bad.map_or(&attempt.status, |step| &step.status);
    let mut text = String::new();
    if let Some(message) = status.message() {
        text.push_str(&blamed(status, &message));
        text.push('\n');
    }
    if let Some(hint) = status.hint() {
        text.push_str(&format!("hint: {hint}\n"));
    }
    match status.outcome() {
        Some(Outcome::Failed(failure)) => {
            if let Some(at) = &failure.at {
                text.push_str(&format!("at {}\n", relative(here, at)));
            }
            for line in &failure.log {
                text.push_str(&format!("  - {line}\n"));
            }
        }
        Some(_) | None => {
            if let Some(known) = bad.and_then(|step| trail.step(step.step)) {
                let path = relative(here, &trail.summary.path);
                text.push_str(&format!("at {path}:{}\n", known.line));
            }
        }
    }
    text
}

/// Errors the device reported, by step.
pub(super) fn trouble(attempt: &AttemptView) -> String {
    let mut text = String::new();
    for step in &attempt.steps {
        let lines = step.reports.iter().map(Reported::of);
        for line in lines.filter(|line| line.is_trouble) {
            let (level, said) = (foreign(&line.level), foreign(&line.text));
            text.push_str(&format!("{}: {level}: {said}", wording::step(step.step)));
            if let Some(source) = line.source {
                text.push_str(&format!(" ({})", foreign(source)));
            }
            text.push('\n');
        }
    }
    text
}

/// A text of the app or the trail as part of a log: one line, and nothing CI would take for a
/// file to attach.
pub(super) fn foreign(text: &str) -> String {
    wording::one_line(text).replace("[[ATTACHMENT|", "[ATTACHMENT|")
}

/// The configuration of a session, an axis each.
pub(super) fn cell_properties(cell: &Cell) -> impl Iterator<Item = Property> {
    let axes = cell.0.iter();
    axes.map(|(axis, value)| Property::new(format!("cell.{axis}"), value.as_str()))
}

pub(super) fn device_properties(info: &packtrain_drivers::DeviceInfo) -> Vec<Property> {
    let classifiers: Vec<&str> = info.classifiers.iter().map(|c| c.0.as_str()).collect();
    let screen = format!("{}x{}", info.screen.width, info.screen.height);
    [
        ("device.id", info.id.to_string()),
        ("device.platform", info.id.platform().to_string()),
        ("device.model", info.model.clone()),
        ("device.system", info.system.clone()),
        ("device.driver", info.driver.clone()),
        ("device.classifiers", classifiers.join("-")),
        ("device.screen", screen),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    .map(|(name, value)| Property::new(name, value))
    .collect()
}
