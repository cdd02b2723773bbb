//! The details behind the grid, made from the view.

mod shape;
mod texts;

use std::time::Duration;

use chrono::{DateTime, Utc};
use packtrain_compare::defects::sentence;
use packtrain_drivers::DeviceEvent;
use packtrain_model::screen::Observation;
use packtrain_model::{ArtifactKind, Outcome, StepKind};
use serde_json::Value;

pub(super) use self::shape::Details;
use self::shape::{
    Attempt, Call, Device, FailureReason, File, Report, Session, Shot, Step, StepScreen, Trail,
    TrailStep,
};
use self::texts::Texts;
use super::HtmlOptions;
use super::page::{Page, Section};
use super::pictures::{Picture, Pictures};
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
    page: &'a Page<'_>,
    options: &'a HtmlOptions,
    pictures: &Pictures,
    artifact: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
) -> (Details<'a>, Vec<String>) {
    let mut texts = Texts::new(artifact);
    let mut sessions = Vec::new();
    let firsts = super::trees::firsts(view);
    for (place, trail) in view.trails.iter().enumerate() {
        for session in &trail.sessions {
            let label = page.names.get(session);
            let planned = (place, trail, session, label);
            let mut details = details_of(planned, view.started, pictures, &mut texts);
            let steps = details.attempts.iter_mut().flat_map(|one| &mut one.steps);
            for seen in steps.filter_map(|step| step.seen.as_mut()) {
                seen.tree = seen.tree.and_then(|tree| firsts.get(tree).copied());
            }
            sessions.push(details);
        }
    }
    let trails = view.trails.iter().zip(page.sections());
    let marks = Mark::ALL.into_iter().map(|mark| (mark.key(), mark.into()));
    // Where each observed picture is.
    let observed = view.steps();
    let observed = observed.filter_map(|(_, step)| step.observed.as_ref()?.picture.as_ref());
    let shots = observed.map(|seen| (&*seen.digest, shot(&seen.artifact, pictures)));
    let details = Details {
        root: &options.artifact_root,
        head: &page.heading,
        marks: marks.collect(),
        trails: trails.map(|(view, section)| trail(view, section)).collect(),
        sessions,
        pictures: shots.collect(),
    };
    (details, texts.kept)
}

fn trail<'a>(trail: &'a TrailView, section: &'a Section) -> Trail<'a> {
    let steps = trail.summary.steps.iter().zip(&section.rows);
    let steps = steps.map(|(step, row)| TrailStep {
        spread: row.spread.as_deref(),
        i: step.step.0,
        kind: kind(step.kind),
        text: &step.text,
        line: step.line,
    });
    Trail {
        title: &trail.summary.title,
        path: &trail.summary.path,
        facts: &section.facts,
        problems: &section.problems,
        notes: &section.notes,
        steps: steps.collect(),
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
    (place, trail, session, label): (usize, &TrailView, &'a SessionView, &str),
    start: Option<DateTime<Utc>>,
    pictures: &Pictures,
    texts: &mut Texts<'_>,
) -> Session<'a> {
    let info = session.info.as_ref();
    let known = info.map(|info| Device {
        model: info.model.clone(),
        system: info.system.clone(),
        screen: format!("{}×{}", info.screen.width, info.screen.height),
        driver: info.driver.clone(),
        ..Device::default()
    });
    let device = Device {
        label: label.to_owned(),
        id: session.name(),
        ..known.unwrap_or_default()
    };
    let mark = session.mark();
    let word = word_of(mark, &session.status);
    let classifiers = info.into_iter().flat_map(|info| &info.classifiers);
    let classifiers: Vec<&str> = classifiers.map(|c| c.0.as_str()).collect();
    let find = [
        trail.summary.name.as_str(),
        &trail.summary.title,
        &device.id,
        &device.model,
        &device.system,
        &device.driver,
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
    let took = Some(session.total_duration()).filter(|took| !took.is_zero());
    let attempts = session.attempts.iter();
    let attempts = attempts.map(|one| details_of_attempt(one, start, pictures, texts));
    Session {
        id: &session.id.0,
        trail: place,
        device,
        mark: mark.key(),
        word,
        time: took.map_or_else(String::new, wording::duration),
        cell: &session.cell,
        find,
        said: said(&session.status),
        attempts: attempts.collect(),
    }
}

fn details_of_attempt<'a>(
    attempt: &'a AttemptView,
    start: Option<DateTime<Utc>>,
    pictures: &Pictures,
    texts: &mut Texts<'_>,
) -> Attempt<'a> {
    let from = since(start, attempt.started).unwrap_or(0.0);
    let end = from + millis(attempt.duration);
    let steps = attempt.steps.iter();
    let steps = steps.map(|step| details_of_step(step, start, pictures, texts));
    Attempt {
        from,
        to: since(start, attempt.ended).unwrap_or(end),
        axes: &attempt.axes,
        id: &attempt.id.0,
        n: attempt.number.0,
        mark: Mark::of(&attempt.status).key(),
        time: wording::duration(attempt.duration),
        bad: attempt.first_bad_step().map(|step| step.step.0),
        steps: steps.collect(),
    }
}

/// Milliseconds from one to the other, when both are known.
fn since(start: Option<DateTime<Utc>>, then: Option<DateTime<Utc>>) -> Option<f64> {
    Some(millis((then? - start?).to_std().unwrap_or_default()))
}

fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 10_000.0).round() / 10.0
}

fn details_of_step<'a>(
    step: &'a StepView,
    start: Option<DateTime<Utc>>,
    pictures: &Pictures,
    texts: &mut Texts<'_>,
) -> Step<'a> {
    let texts = step.is_bad().then(|| texts.of(step));
    let files = step.artifacts.iter().map(|artifact| File {
        path: &artifact.path,
        kind: artifact_kind(artifact.kind),
        size: size(artifact.bytes),
    });
    let shots = step.artifacts.iter();
    let shots = shots.filter(|artifact| artifact.kind == ArtifactKind::Screenshot);
    let shots = shots.map(|artifact| shot(&artifact.path, pictures));
    Step {
        at: since(start, step.started),
        ms: millis(step.duration),
        seen: step.observed.as_ref().map(seen),
        i: step.step.0,
        mark: step.mark().key(),
        word: word_of(step.mark(), &step.status),
        idle: step.is_idle(),
        time: step_time(step),
        said: said(&step.status),
        calls: step.calls.iter().map(call).collect(),
        reports: step.reports.iter().take(MOST_REPORTS).map(report).collect(),
        more: step.reports.len().saturating_sub(MOST_REPORTS),
        shots: shots.collect(),
        texts: texts.unwrap_or_default(),
        files: files.collect(),
    }
}

/// How long a step took, when it has an end.
pub(super) fn step_time(step: &StepView) -> String {
    let has_time = match step.status {
        Status::Ended(Outcome::Skipped { .. }) | Status::NotRun | Status::Unfinished => false,
        // A step with nothing to do, or that asks for an agent, takes no time worth the name.
        Status::Ended(_) => !step.is_idle() && !step.duration.is_zero(),
    };
    let time = has_time.then(|| wording::duration(step.duration));
    time.unwrap_or_default()
}

/// The word of an infrastructure error, which says whom it blames; others have their mark's.
fn word_of(mark: Mark, status: &Status) -> Option<&'static str> {
    (mark == Mark::Infrastructure).then(|| status.word())
}

fn said(status: &Status) -> Option<FailureReason<'_>> {
    let (at, log) = match status.outcome() {
        Some(Outcome::Failed(failure)) => (failure.at.as_deref(), &failure.log[..]),
        Some(_) | None => (None, &[][..]),
    };
    Some(FailureReason {
        message: cut(&status.message()?),
        hint: status.hint(),
        at,
        log: log.iter().map(|line| cut(line)).collect(),
    })
}

/// As much of a foreign text as is kept.
fn cut(text: &str) -> String {
    wording::cut(text, LONGEST_TEXT).into_owned()
}

fn call(call: &CallView) -> Call<'_> {
    let (located, via) = (call.report.located.as_ref(), call.via.as_ref());
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
        said: call.status.message().map(|message| cut(&message)),
        answer: call.answer.as_deref().map(cut),
        via: via.map(|via| wording::via(via, call.duration)),
        log: via.and_then(|via| via.log.as_deref()),
    }
}

/// Arguments with their long texts cut.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(cut(text)),
        Value::Array(items) => items.iter().map(shortened).collect(),
        Value::Object(map) => {
            let entries = map.iter();
            entries
                .map(|(key, value)| (key.clone(), shortened(value)))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn report(event: &DeviceEvent) -> Report {
    let line = crate::reported::Reported::of(event);
    Report {
        level: line.level.into_owned(),
        bad: line.is_trouble,
        text: cut(&line.text),
        src: line.source.map(str::to_owned),
    }
}

fn shot<'a>(path: &'a str, pictures: &Pictures) -> Shot<'a> {
    let (p, h) = match pictures.find(path) {
        Picture::Inline(place) => (Some(place), None),
        Picture::Linked => (None, Some(path)),
        Picture::Missing => (None, None),
    };
    Shot { p, h }
}

fn seen(observed: &Observation) -> StepScreen<'_> {
    let picture = observed.picture.as_ref();
    let counted = |count: u32, one, many| {
        (count > 0).then(|| wording::count(usize::try_from(count).unwrap_or(0), one, many))
    };
    let (one, many) = ("error or warning logged", "errors and warnings logged");
    let still = "the screen never became still";
    let notes = [
        counted(observed.console, one, many),
        counted(
            observed.failed_requests,
            "request failed",
            "requests failed",
        ),
        observed.unsettled.then(|| still.to_owned()),
    ];
    let idle = observed.idle_masks.iter();
    let idle = idle.map(|mask| format!("the mask `{}` matched nothing", wording::one_line(mask)));
    StepScreen {
        tree: observed.tree.as_ref().map(|tree| &*tree.digest),
        picture: picture.map(|picture| &*picture.digest),
        width: picture.map_or(0, |picture| picture.width),
        height: picture.map_or(0, |picture| picture.height),
        scale: picture.map_or(1.0, |picture| picture.scale),
        masked: picture.map_or(&[], |picture| &picture.masked),
        defects: observed
            .defects
            .iter()
            .map(|one| cut(&sentence(one)))
            .collect(),
        notes: notes.into_iter().flatten().chain(idle).collect(),
    }
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
