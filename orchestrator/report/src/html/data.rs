//! The details behind the grid, made from the view.

mod shape;
mod texts;

use packtrain_drivers::DeviceEvent;
use packtrain_model::{ArtifactKind, Outcome, StepKind};
use serde_json::Value;

use self::shape::{
    Attempt, Call, Details, Device, File, MarkText, Report, Said, Session, Shot, Step, Trail,
    TrailStep,
};
use self::texts::Texts;
use super::HtmlOptions;
use super::label::labels;
use super::pictures::{Picture, Pictures};
use crate::compare::Comparison;
use crate::mark::Mark;
use crate::view::{AttemptView, CallView, RunView, SessionView, Status, StepView, TrailView};
use crate::wording;

/// Longest foreign text kept in a detail, in characters; the file itself is linked.
const LONGEST_TEXT: usize = 4_000;
/// How many reports of a device are kept for a step.
const MOST_REPORTS: usize = 100;

/// The details, and the screens' texts they refer to.
pub(super) fn details<'a>(
    view: &'a RunView,
    comparisons: &'a [Comparison],
    options: &'a HtmlOptions,
    pictures: &Pictures,
    artifact: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
) -> (Details<'a>, Vec<String>) {
    let mut texts = Texts::new(artifact);
    let mut sessions = Vec::new();
    let mut order = Vec::new();
    let mut reference = Vec::new();
    for (place, (trail, comparison)) in view.trails.iter().zip(comparisons).enumerate() {
        let first = sessions.len();
        order.push(
            comparison
                .clusters
                .iter()
                .flat_map(|cluster| &cluster.sessions)
                .map(|session| first + session)
                .collect(),
        );
        let passed = comparison.reference().map_or(&[][..], |c| &c.sessions);
        reference.push(passed.iter().map(|session| first + session).collect());
        for ((index, session), label) in trail.sessions.iter().enumerate().zip(labels(trail)) {
            let mut details = details_of(trail, place, session, pictures, &mut texts);
            details.device.label = label;
            if let Some(cluster) = comparison
                .divergences()
                .find(|c| c.sessions.contains(&index))
            {
                details.letter = Some(&cluster.letter);
                details.alike = cluster.sessions.len();
            }
            sessions.push(details);
        }
    }
    let details = Details {
        root: &options.artifact_root,
        marks: Mark::ALL
            .into_iter()
            .map(|mark| {
                let (sign, word) = (mark.sign(), mark.word());
                (mark.key(), MarkText { sign, word })
            })
            .collect(),
        trails: view.trails.iter().map(trail).collect(),
        sessions,
        order,
        reference,
    };
    (details, texts.kept)
}

fn trail(trail: &TrailView) -> Trail<'_> {
    Trail {
        title: &trail.summary.title,
        path: &trail.summary.path,
        steps: trail
            .summary
            .steps
            .iter()
            .map(|step| TrailStep {
                i: step.step.0,
                kind: kind(step.kind),
                text: &step.text,
                line: step.line,
            })
            .collect(),
    }
}

pub(super) const fn kind(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Trailhead => "trailhead",
        StepKind::Step => "step",
        StepKind::Verify => "verify",
    }
}

fn details_of<'a>(
    trail: &'a TrailView,
    place: usize,
    session: &'a SessionView,
    pictures: &Pictures,
    texts: &mut Texts<'_>,
) -> Session<'a> {
    let info = session.info.as_ref();
    let device = Device {
        label: String::new(),
        id: session.name(),
        model: info.map_or_else(String::new, |info| info.model.clone()),
        system: info.map_or_else(String::new, |info| info.system.clone()),
        screen: info.map_or_else(String::new, |info| {
            format!("{}×{}", info.screen.width, info.screen.height)
        }),
        driver: info.map_or_else(String::new, |info| info.driver.clone()),
    };
    let mark = session.mark();
    let word = word_of(mark, &session.status);
    let classifiers = info.into_iter().flat_map(|info| &info.classifiers);
    let classifiers: Vec<&str> = classifiers.map(|c| c.0.as_str()).collect();
    let find = [
        trail.summary.name.as_str(),
        trail.summary.title.as_str(),
        device.id.as_str(),
        device.model.as_str(),
        device.system.as_str(),
        device.driver.as_str(),
        &classifiers.join(" "),
        mark.word(),
        word.unwrap_or_default(),
        mark.key(),
        // Somebody who looks for what passed means these too.
        if mark == Mark::Flaky { "passed" } else { "" },
        &session.status.message().unwrap_or_default(),
    ]
    .join("\n")
    .to_lowercase();
    Session {
        id: &session.id.0,
        trail: place,
        device,
        mark: mark.key(),
        word,
        time: Some(session.total_duration())
            .filter(|took| !took.is_zero())
            .map_or_else(String::new, wording::duration),
        letter: None,
        alike: 0,
        find,
        said: said(&session.status),
        attempts: session
            .attempts
            .iter()
            .map(|attempt| details_of_attempt(attempt, pictures, texts))
            .collect(),
    }
}

fn details_of_attempt<'a>(
    attempt: &'a AttemptView,
    pictures: &Pictures,
    texts: &mut Texts<'_>,
) -> Attempt<'a> {
    Attempt {
        id: &attempt.id.0,
        n: attempt.number.0,
        mark: Mark::of(&attempt.status).key(),
        time: wording::duration(attempt.duration),
        bad: attempt.first_bad_step().map(|step| step.step.0),
        steps: attempt
            .steps
            .iter()
            .map(|step| details_of_step(step, pictures, texts))
            .collect(),
    }
}

fn details_of_step<'a>(step: &'a StepView, pictures: &Pictures, texts: &mut Texts<'_>) -> Step<'a> {
    Step {
        i: step.step.0,
        mark: step.mark().key(),
        word: word_of(step.mark(), &step.status),
        time: step_time(step),
        said: said(&step.status),
        calls: step.calls.iter().map(call).collect(),
        reports: step.reports.iter().take(MOST_REPORTS).map(report).collect(),
        more: step.reports.len().saturating_sub(MOST_REPORTS),
        shots: shots(step, pictures),
        texts: if step.is_bad() {
            texts.of(step)
        } else {
            Vec::new()
        },
        files: step
            .artifacts
            .iter()
            .map(|artifact| File {
                path: &artifact.path,
                kind: artifact_kind(artifact.kind),
                size: size(artifact.bytes),
            })
            .collect(),
    }
}

/// How long a step took, when it has an end.
pub(super) fn step_time(step: &StepView) -> String {
    match step.status {
        Status::Ended(Outcome::Skipped { .. }) | Status::NotRun | Status::Unfinished => {
            String::new()
        }
        // A step that asks for an agent takes no time worth the name.
        Status::Ended(_) if step.duration.is_zero() => String::new(),
        Status::Ended(_) => wording::duration(step.duration),
    }
}

/// The word of an infrastructure error, which says whom it blames; others have their mark's.
fn word_of(mark: Mark, status: &Status) -> Option<&'static str> {
    (mark == Mark::Infrastructure).then(|| status.word())
}

fn said(status: &Status) -> Option<Said<'_>> {
    let (at, log) = match status.outcome() {
        Some(Outcome::Failed(failure)) => (failure.at.as_deref(), &failure.log[..]),
        Some(_) | None => (None, &[][..]),
    };
    Some(Said {
        message: wording::cut(&status.message()?, LONGEST_TEXT).into_owned(),
        hint: status.hint(),
        at,
        log: log
            .iter()
            .map(|line| wording::cut(line, LONGEST_TEXT).into_owned())
            .collect(),
    })
}

fn call(call: &CallView) -> Call<'_> {
    let located = call.report.located.as_ref();
    Call {
        depth: call.depth,
        tool: &call.tool,
        mark: Mark::of(&call.status).key(),
        time: match &call.status {
            Status::Ended(_) => wording::duration(call.duration),
            Status::NotRun | Status::Unfinished => String::new(),
        },
        args: shortened(&call.arguments),
        by: located.map(|located| located.by.as_str()),
        matched: located.map(|located| located.matched),
        notes: call.report.notes.iter().map(String::as_str).collect(),
        said: call
            .status
            .message()
            .map(|message| wording::cut(&message, LONGEST_TEXT).into_owned()),
        answer: call
            .answer
            .as_deref()
            .map(|answer| wording::cut(answer, LONGEST_TEXT).into_owned()),
        via: call
            .via
            .as_ref()
            .map(|via| wording::via(via, call.duration)),
        log: call.via.as_ref().and_then(|via| via.log.as_deref()),
    }
}

/// Arguments with their long texts cut.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(wording::cut(text, LONGEST_TEXT).into_owned()),
        Value::Array(items) => items.iter().map(shortened).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), shortened(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn report(event: &DeviceEvent) -> Report {
    let line = crate::reported::Reported::of(event);
    Report {
        level: line.level.into_owned(),
        bad: line.is_trouble,
        text: wording::cut(&line.text, LONGEST_TEXT).into_owned(),
        src: line.source.map(str::to_owned),
    }
}

fn shots<'a>(step: &'a StepView, pictures: &Pictures) -> Vec<Shot<'a>> {
    step.artifacts
        .iter()
        .filter(|artifact| artifact.kind == ArtifactKind::Screenshot)
        .map(|artifact| match pictures.find(&artifact.path) {
            Picture::Inline(place) => Shot {
                p: Some(place),
                h: None,
            },
            Picture::Linked => Shot {
                p: None,
                h: Some(&artifact.path),
            },
            Picture::Missing => Shot { p: None, h: None },
        })
        .collect()
}

const fn artifact_kind(kind: ArtifactKind) -> &'static str {
    match kind {
        ArtifactKind::Screenshot => "screenshot",
        ArtifactKind::Snapshot => "screen as text",
        ArtifactKind::Tree => "screen as tree",
        ArtifactKind::Download => "download",
        ArtifactKind::DeviceLog => "device log",
        ArtifactKind::ScreenTree => "screen for comparison",
        ArtifactKind::Trace => "trace",
    }
}

/// A size as people read it: `812 B`, `4.2 KB`, `1.3 MB`.
fn size(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} KB", tenths(1_000)),
        _ => format!("{} MB", tenths(1_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_in_decimal_units() {
        assert_eq!(size(812), "812 B");
        assert_eq!(size(4_250), "4.2 KB");
        assert_eq!(size(1_390_000), "1.3 MB");
    }
}
