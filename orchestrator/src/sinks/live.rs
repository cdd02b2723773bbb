//! Progress on a terminal: a bar for the whole run and a line for each device that is at work.

use std::collections::{BTreeMap, HashMap};
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use packtrain_engine::Sink;
use packtrain_model::{Entry, Outcome, RunEvent, SessionId, StepIndex, TrailSummary};
use packtrain_report::console::{Detail, EventLines, Layout, Timestamps};
use packtrain_report::named;

use crate::render::{self, Color};

/// Devices shown at once; the rest is counted. More lines than a screen has are useless.
const MOST: usize = 12;
/// How often spinners turn.
const SPINNER_INTERVAL: Duration = Duration::from_millis(120);

/// Draws the state of a run and prints what went wrong above it.
pub struct Live {
    bars: MultiProgress,
    /// An empty line above the others.
    spacer: ProgressBar,
    total: ProgressBar,
    more: ProgressBar,
    trails: Vec<TrailSummary>,
    running: BTreeMap<String, Running>,
    hidden: HashMap<SessionId, Running>,
    lines: EventLines,
    bad: u64,
}

/// The place above the bars, for words that are not of the run's events.
#[derive(Clone)]
pub struct AboveBars(MultiProgress);

impl AboveBars {
    /// Prints words without waiting for the terminal.
    pub fn say_without_waiting(self, words: &str) {
        let words = render::wrapped(words, render::columns());
        // A terminal that takes nothing is not told.
        render::in_background(move || drop(self.0.println(words)));
    }
}

struct Running {
    session: SessionId,
    trail: usize,
    device: String,
    bar: Option<ProgressBar>,
    /// What the bar says of the step.
    step: String,
    /// The calls under way, outermost first.
    calls: Vec<String>,
}

impl Running {
    fn show(&self) {
        if let Some(bar) = &self.bar {
            let calls = match self.calls.as_slice() {
                [] | [_] => String::new(),
                nested => format!("  {}", nested.join(" > ")),
            };
            bar.set_message(format!("{}{calls}", self.step));
        }
    }
}

impl Live {
    /// Whether standard error is a terminal that can be drawn on.
    pub fn is_possible() -> bool {
        std::io::stderr().is_terminal()
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
    }

    /// A display on standard error.
    pub fn new(color: Color) -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(15));
        let layout = Layout {
            color: color.on_stderr(),
            ..Layout::default()
        };
        // A terminal shows Ctrl-C as `^C` on a line of its own, by which the topmost is left behind.
        let spacer = bars.add(ProgressBar::new_spinner());
        spacer.set_style(style(" "));
        let more = bars.add(ProgressBar::new_spinner());
        more.set_style(style("  {msg}"));
        let total = bars.add(ProgressBar::new(0));
        total.set_style(style("{bar:28} {pos}/{len} {elapsed} {msg}"));
        Self {
            bars,
            spacer,
            total,
            more,
            trails: Vec::new(),
            running: BTreeMap::new(),
            hidden: HashMap::new(),
            lines: EventLines::new(layout, Detail::Sessions, Timestamps::None),
            bad: 0,
        }
    }

    /// Where words can be printed while this draws.
    pub fn above(&self) -> AboveBars {
        AboveBars(self.bars.clone())
    }

    fn started(&mut self, session: &SessionId, trail: usize, device: &str) {
        let mut running = Running {
            session: session.clone(),
            trail,
            device: device.to_owned(),
            bar: None,
            step: String::new(),
            calls: Vec::new(),
        };
        if self.running.len() < MOST {
            running.bar = Some(self.add_bar(device));
            self.running.insert(device.to_owned(), running);
        } else {
            self.hidden.insert(session.clone(), running);
        }
        self.count_hidden();
    }

    fn add_bar(&self, device: &str) -> ProgressBar {
        let bar = self
            .bars
            .insert_before(&self.more, ProgressBar::new_spinner());
        bar.set_style(style("{spinner} {prefix:24} {wide_msg}"));
        bar.set_prefix(device.to_owned());
        bar.enable_steady_tick(SPINNER_INTERVAL);
        bar
    }

    fn step(&mut self, session: &SessionId, step: StepIndex) {
        let mut running = self.running.values_mut();
        let Some(running) = running.find(|running| running.session == *session) else {
            return;
        };
        if let Some(trail) = self.trails.get(running.trail) {
            running.step = progress(trail, step);
            running.calls.clear();
            running.show();
        }
    }

    /// A call began, this deep. The calls above it are those that made it.
    fn call(&mut self, session: &SessionId, depth: u32, tool: &str) {
        let mut running = self.running.values_mut();
        if let Some(running) = running.find(|running| running.session == *session) {
            running.calls.truncate(depth as usize);
            running.calls.push(tool.to_owned());
            // The outermost call says no more than the step.
            if depth > 0 {
                running.show();
            }
        }
    }

    fn ended(&mut self, session: &SessionId, is_final: bool, bad: bool) {
        let shown = self
            .running
            .iter()
            .find(|(_, running)| running.session == *session)
            .map(|(device, _)| device.clone());
        match shown.and_then(|device| self.running.remove(&device)) {
            Some(Running { bar: Some(bar), .. }) => {
                bar.finish_and_clear();
                self.bars.remove(&bar);
                self.promote();
            }
            Some(_) => {}
            None => {
                self.hidden.remove(session);
            }
        }
        self.count_hidden();
        if is_final {
            self.total.inc(1);
            self.bad += u64::from(bad);
            if self.bad > 0 {
                self.total.set_message(format!("{} not passed", self.bad));
            }
        }
    }

    /// A free line goes to a device that was only counted so far.
    fn promote(&mut self) {
        let Some(session) = self.hidden.keys().next().cloned() else {
            return;
        };
        if let Some(mut running) = self.hidden.remove(&session) {
            running.bar = Some(self.add_bar(&running.device));
            self.running.insert(running.device.clone(), running);
        }
    }

    fn count_hidden(&self) {
        self.more.set_message(match self.hidden.len() {
            0 => String::new(),
            more => format!("and {more} more devices"),
        });
    }
}

impl Sink for Live {
    fn name(&self) -> &'static str {
        "progress"
    }

    fn on_event(&mut self, entry: &Entry) -> Result<(), String> {
        match &entry.event {
            RunEvent::RunStarted {
                trails, sessions, ..
            } => {
                self.trails.clone_from(trails);
                self.spacer.tick();
                self.total.set_length(sessions.len() as u64);
                self.total.enable_steady_tick(SPINNER_INTERVAL);
            }
            RunEvent::SessionStarted {
                session,
                planned,
                device,
                ..
            } => {
                let name = named(&device.id.to_string(), &planned.cell);
                self.started(session, planned.trail, &name);
            }
            RunEvent::StepStarted { session, step } => self.step(session, *step),
            RunEvent::SessionWillRetry { session, .. } => self.ended(session, false, false),
            RunEvent::SessionFinished {
                session, outcome, ..
            } => {
                let bad = !matches!(outcome, Outcome::Passed | Outcome::Skipped { .. });
                self.ended(session, true, bad);
            }
            RunEvent::RunFinished { .. } => {
                self.spacer.finish_and_clear();
                self.total.finish_and_clear();
                self.more.finish_and_clear();
                let _ = self.bars.clear();
            }
            RunEvent::ToolStarted {
                session,
                depth,
                tool,
                ..
            } => self.call(session, *depth, tool),
            RunEvent::ToolFinished { .. }
            | RunEvent::SessionConfigured { .. }
            | RunEvent::StepObserved { .. }
            | RunEvent::StepFinished { .. }
            | RunEvent::ArtifactSaved { .. }
            | RunEvent::DeviceReported { .. }
            | RunEvent::SinkFailed { .. }
            | RunEvent::StopRequested { .. } => {}
        }
        for line in self.lines.lines(entry) {
            let line = render::wrapped(&line, render::columns());
            self.bars.println(line).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn on_dropped(&mut self, count: u64) -> Result<(), String> {
        let line = super::lines::not_shown(count);
        self.bars.println(line).map_err(|error| error.to_string())
    }
}

/// Which step of how many, as everywhere: the trailhead is before the first.
fn progress(trail: &TrailSummary, step: StepIndex) -> String {
    let known = trail.steps.iter().find(|known| known.step == step);
    let text = known.and_then(|known| known.text.lines().next());
    let text = text.unwrap_or_default();
    if step == StepIndex::TRAILHEAD {
        return format!("{step}  {text}");
    }
    let steps = trail.steps.iter();
    let count = steps
        .filter(|known| known.step != StepIndex::TRAILHEAD)
        .count();
    format!("{step}/{count}  {text}")
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

#[cfg(test)]
mod tests {
    use packtrain_model::{StepIndex, StepKind, StepSummary, TrailSummary};

    use super::progress;

    #[test]
    fn steps_are_counted_as_everywhere_else_and_the_trailhead_is_none_of_them() {
        let steps = [StepKind::Trailhead, StepKind::Step, StepKind::Verify];
        let trail = TrailSummary {
            name: "t".to_owned(),
            title: "T".to_owned(),
            path: "t.trail.yaml".to_owned(),
            tags: Vec::new(),
            steps: (0..)
                .zip(steps)
                .map(|(step, kind)| StepSummary {
                    step: StepIndex(step),
                    kind,
                    text: format!("text {step}\nmore"),
                    line: 1,
                })
                .collect(),
        };
        let shown: Vec<String> = (0..3)
            .map(|step| progress(&trail, StepIndex(step)))
            .collect();
        assert_eq!(shown, ["trailhead  text 0", "1/2  text 1", "2/2  text 2"]);
    }
}
