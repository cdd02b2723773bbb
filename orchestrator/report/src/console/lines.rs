//! Lines for each event worth some: what a run says where there is no terminal to redraw.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use packtrain_drivers::DeviceEvent;
use packtrain_model::{
    AttemptNumber, Entry, Outcome, RunEvent, SessionId, SessionIndex, StepIndex, TrailSummary,
};

use super::Layout;
use super::paint::pad;
use crate::mark::Mark;
use crate::reported::Reported;
use crate::view::{Status, device_name, named, numbered};
use crate::wording;

/// Longest label that others are aligned with, in characters.
const WIDEST_LABEL: usize = 44;

/// How much to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Sessions that end otherwise than by a pass or a skip, and what the run itself has to say.
    Failures,
    /// Sessions as they end, one line each.
    Ends,
    /// Sessions that start and end.
    Sessions,
    /// Steps too, and what devices report when it hints at a fault.
    Steps,
    /// Tool calls too, what they noticed, and everything devices report.
    Tools,
}

/// What stands before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timestamps {
    /// Nothing.
    None,
    /// Time of day, UTC.
    Clock,
    /// Seconds since the run started.
    Elapsed,
}

/// Turns events into lines; remembers what sessions and steps are called.
#[derive(Debug)]
pub struct EventLines {
    layout: Layout,
    detail: Detail,
    timestamps: Timestamps,
    started: Option<DateTime<Utc>>,
    trails: Vec<TrailSummary>,
    /// Sessions and attempts by id: trail and label.
    sessions: HashMap<String, (usize, String)>,
    label_width: usize,
    planned: usize,
    finished: usize,
    attempts: u32,
    /// What the calls of each session's step under way noticed.
    notes: HashMap<String, Vec<String>>,
    /// What is said of a session when its first step begins; one that is skipped never starts.
    starting: HashMap<String, String>,
}

impl EventLines {
    /// Lines for a run whose events follow from the first.
    pub fn new(layout: Layout, detail: Detail, timestamps: Timestamps) -> Self {
        Self {
            layout,
            detail,
            timestamps,
            started: None,
            trails: Vec::new(),
            sessions: HashMap::new(),
            label_width: 0,
            planned: 0,
            finished: 0,
            attempts: 1,
            notes: HashMap::new(),
            starting: HashMap::new(),
        }
    }

    /// The lines for an event, without newlines; none when it is not worth one.
    pub fn lines(&mut self, entry: &Entry) -> Vec<String> {
        let mut lines: Vec<String> = self.text(entry).into_iter().collect();
        lines.extend(self.notes_of(&entry.event));
        let timestamp = self.timestamp(entry.at);
        let lines = lines.iter().map(|line| format!("{timestamp}{line}"));
        lines.collect()
    }

    /// What a step's calls noticed, each thing once, when the step has ended.
    fn notes_of(&mut self, event: &RunEvent) -> Vec<String> {
        if let RunEvent::ToolFinished {
            session, report, ..
        } = event
        {
            let known = self.notes.entry(session.0.clone()).or_default();
            for note in &report.notes {
                if !known.contains(note) {
                    known.push(note.clone());
                }
            }
        }
        if let RunEvent::SessionWillRetry { session, .. }
        | RunEvent::SessionFinished { session, .. } = event
        {
            self.notes.remove(&session.0);
        }
        let RunEvent::StepFinished { session, .. } = event else {
            return Vec::new();
        };
        let notes = self.notes.remove(&session.0).unwrap_or_default();
        let told = notes.iter().filter(|_| self.detail >= Detail::Tools);
        told.map(|note| {
            let note = wording::one_line(note);
            self.labelled(session, &format!("  note: {note}"))
        })
        .collect()
    }

    fn timestamp(&self, at: DateTime<Utc>) -> String {
        let text = match self.timestamps {
            Timestamps::None => return String::new(),
            Timestamps::Clock => at.format("%H:%M:%S%.3f").to_string(),
            Timestamps::Elapsed => {
                let since = self.started.map(|start| (at - start).num_milliseconds());
                let since = since.unwrap_or(0);
                format!("{:>7}.{:03}", since / 1000, since.rem_euclid(1000))
            }
        };
        format!("{}  ", self.layout.dim(&text))
    }

    fn text(&mut self, entry: &Entry) -> Option<String> {
        let layout = self.layout;
        match &entry.event {
            RunEvent::RunStarted {
                run,
                trails,
                devices,
                sessions,
                options,
                ..
            } => {
                self.started = Some(entry.at);
                self.attempts = options.retries.saturating_add(1);
                self.trails.clone_from(trails);
                self.planned = sessions.len();
                for (index, planned) in sessions.iter().enumerate() {
                    let id = SessionId::new(SessionIndex(index), AttemptNumber(1));
                    let device = device_name(planned.device.as_ref());
                    let name = numbered(named(&device, &planned.cell), planned.repeat);
                    self.name(&id, planned.trail, &name);
                }
                if self.detail == Detail::Failures {
                    return None;
                }
                let part = options.part.as_ref();
                Some(format!(
                    "run {run}: {} × {}, {}{}",
                    wording::count(trails.len(), "trail", "trails"),
                    wording::count(devices.len(), "device", "devices"),
                    wording::count(sessions.len(), "session", "sessions"),
                    part.map_or_else(String::new, |part| {
                        let part = wording::one_line(part);
                        let all = sessions.len() + options.elsewhere.len();
                        format!(" of {all}: part {part}")
                    }),
                ))
            }
            RunEvent::SessionStarted {
                session,
                planned,
                attempt,
                device,
                ..
            } => {
                let name = named(&device.id.to_string(), &planned.cell);
                let name = numbered(name, planned.repeat);
                self.name(session, planned.trail, &name);
                let mut said = format!("started on {}, {}", device.model, device.system);
                if attempt.0 > 1 {
                    said = format!("attempt {}, {said}", attempt.0);
                }
                if let Some(own) = planned.device.as_ref().filter(|own| **own != device.id) {
                    said = format!("{said}, in place of {own}, which was not available");
                }
                let line = self.labelled(session, &layout.dim(&wording::one_line(&said)));
                self.starting.insert(session.0.clone(), line);
                None
            }
            RunEvent::StepStarted { session, .. } => {
                let starting = self.starting.remove(&session.0);
                starting.filter(|_| self.detail >= Detail::Sessions)
            }
            RunEvent::StepFinished {
                session,
                step,
                outcome,
                duration_ms,
            } if self.detail >= Detail::Steps => {
                let mark = mark(outcome);
                let mut said = format!(
                    "{} {} {}  {}",
                    layout.sign(mark),
                    step,
                    self.step_text(session, *step),
                    layout.dim(&wording::duration(*duration_ms)),
                );
                if let Some(message) = outcome.message() {
                    add(&mut said, &message);
                }
                Some(self.labelled(session, &said))
            }
            RunEvent::ToolFinished {
                session,
                depth,
                tool,
                outcome,
                report,
                via,
                duration_ms,
                ..
            } if self.detail >= Detail::Tools
                || (via.is_some() && self.detail >= Detail::Steps) =>
            {
                let mut said = format!(
                    "{}{} {}  {}",
                    "  ".repeat(*depth as usize % 16 + 1),
                    layout.sign(mark(outcome)),
                    wording::one_line(tool),
                    layout.dim(&wording::duration(*duration_ms)),
                );
                if let Some(located) = &report.located {
                    add(&mut said, &located.by);
                    if located.matched > 1 {
                        said.push_str(&format!(" ({} matched)", located.matched));
                    }
                }
                if let Some(via) = via {
                    add(&mut said, &wording::via(via, *duration_ms));
                }
                Some(self.labelled(session, &said))
            }
            RunEvent::DeviceReported {
                session, report, ..
            } => self.reported(session, report),
            RunEvent::SessionWillRetry {
                session,
                next,
                outcome,
                duration_ms,
            } => {
                let status = Status::Ended(outcome.clone());
                let mark = Mark::of(&status);
                let said = format!(
                    "{} {} ({}), retrying: attempt {} of {}",
                    layout.sign(mark),
                    layout.mark(mark, status.word()),
                    wording::duration(*duration_ms),
                    next.0,
                    self.attempts.max(next.0)
                );
                Some(self.labelled(session, &said))
            }
            RunEvent::SessionFinished {
                session,
                outcome,
                flaky,
                duration_ms,
            } => {
                self.finished += 1;
                let is_fine = matches!(outcome, Outcome::Passed | Outcome::Skipped { .. });
                if is_fine && self.detail == Detail::Failures {
                    return None;
                }
                let status = Status::Ended(outcome.clone());
                let (mark, word) = match (Mark::of(&status), flaky) {
                    (Mark::Passed, true) => (Mark::Flaky, Mark::Flaky.word()),
                    (mark, _) => (mark, status.word()),
                };
                let mut said = format!(
                    "{} {}  {}",
                    layout.sign(mark),
                    layout.mark(mark, word),
                    layout.dim(&wording::duration(*duration_ms)),
                );
                if let Some(message) = outcome.message() {
                    add(&mut said, &message);
                }
                let counter = format!("  [{}/{}]", self.finished, self.planned.max(self.finished));
                said.push_str(&layout.dim(&counter));
                Some(self.labelled(session, &said))
            }
            RunEvent::SinkFailed {
                sink,
                message,
                unsaved,
            } => {
                let what = match unsaved {
                    Some(file) => format!("{file} was not saved"),
                    None => format!("the {sink} output failed and receives nothing more"),
                };
                let said = format!("warning: {what}: {message}");
                Some(wording::one_line(&said).into_owned())
            }
            RunEvent::StopRequested { by } => Some(format!(
                "{}: no new sessions will start",
                wording::stopped(*by)
            )),
            RunEvent::StepFinished { .. }
            | RunEvent::SessionConfigured { .. }
            | RunEvent::StepObserved { .. }
            | RunEvent::ToolStarted { .. }
            | RunEvent::ToolFinished { .. }
            | RunEvent::ArtifactSaved { .. }
            | RunEvent::RunFinished { .. } => None,
        }
    }

    fn reported(&self, session: &SessionId, report: &DeviceEvent) -> Option<String> {
        let line = Reported::of(report);
        let (least, sign) = match line.is_trouble {
            true => (Detail::Steps, "!"),
            false => (Detail::Tools, " "),
        };
        let said = wording::one_line(&format!("{}: {}", line.level, line.text)).into_owned();
        (self.detail >= least).then(|| self.labelled(session, &format!("  {sign} {said}")))
    }

    fn name(&mut self, session: &SessionId, trail: usize, device: &str) {
        let name = self.trails.get(trail).map_or("?", |trail| &trail.name);
        let label = wording::one_line(&format!("{name} on {device}")).into_owned();
        let width = self.label_width.max(label.chars().count());
        self.label_width = width.min(WIDEST_LABEL);
        self.sessions.insert(session.0.clone(), (trail, label));
    }

    fn labelled(&self, session: &SessionId, said: &str) -> String {
        let known = self.sessions.get(&session.0);
        let label = known.map_or(session.0.as_str(), |(_, label)| label);
        format!("{}  {said}", pad(label, self.label_width))
    }

    fn step_text(&self, session: &SessionId, step: StepIndex) -> String {
        let known = self.sessions.get(&session.0);
        let trail = known.and_then(|(trail, _)| self.trails.get(*trail));
        let step = trail.and_then(|trail| trail.steps.iter().find(|known| known.step == step));
        step.map_or_else(String::new, |step| {
            wording::one_line(&step.text).into_owned()
        })
    }
}

/// Adds a foreign text to a line.
fn add(said: &mut String, text: &str) {
    said.push_str("  ");
    said.push_str(&wording::one_line(text));
}

fn mark(outcome: &Outcome) -> Mark {
    Mark::of(&Status::Ended(outcome.clone()))
}
