//! A rehearsal as it goes on: runs begin, what the schedule says is killed, and what was killed comes
//! back.

use std::collections::VecDeque;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::time::Instant;

use super::faults::{Dice, Fault, FaultAction, Schedule, Target};
use super::stage::{SERVER, Stage};
use crate::exit::CliError;
use crate::render;

/// How often it is looked how far the runs are.
const PROGRESS_POLL: Duration = Duration::from_millis(50);
/// The share of the first run's sessions after which the late one begins.
const LATE_SHARE: f64 = 0.25;

/// A rehearsal, under way or over.
pub(super) struct Show {
    pub(super) stage: Stage,
    /// Faults whose moment has not come.
    pub(super) schedule: VecDeque<Fault>,
    dice: Dice,
    begun: Instant,
    pub(super) took: Duration,
    /// What is to come back, and when.
    away: Vec<(Instant, usize)>,
    pub(super) done: Vec<Done>,
    /// Hosts and brokers that ended although nobody had killed them.
    pub(super) gave_up: Vec<String>,
    progress: Progress,
}

/// What was done to the farm.
#[derive(Debug, Clone)]
pub(super) struct Done {
    pub(super) at: DateTime<Utc>,
    /// Since the run began.
    pub(super) after: Duration,
    pub(super) deed: FaultAction,
    pub(super) target: Target,
    /// To whom: `h2`.
    pub(super) name: String,
    /// How long it was to stay away.
    pub(super) lasting: Duration,
}

/// How many sessions of a journal have ended, counted as it grows.
#[derive(Default)]
struct Progress {
    file: Option<PathBuf>,
    read: u64,
    torn: String,
    finished: u32,
}

impl Show {
    pub(super) fn new(stage: Stage, schedule: Schedule) -> Self {
        Self {
            schedule: schedule.0.into(),
            dice: Dice::new(stage.options.seed),
            stage,
            begun: Instant::now(),
            took: Duration::ZERO,
            away: Vec::new(),
            done: Vec::new(),
            gave_up: Vec::new(),
            progress: Progress::default(),
        }
    }

    /// Plays it to the end of all its runs.
    pub(super) async fn play(&mut self) -> Result<(), CliError> {
        let late = self.stage.options.late;
        self.stage.start_run(self.stage.options.sessions)?;
        self.begun = Instant::now();
        loop {
            let first = &self.stage.runs[0];
            let share = f64::from(self.progress.count(first)) / f64::from(first.sessions);
            if late > 0 && self.stage.runs.len() == 1 && share >= LATE_SHARE {
                render::say(&format!("{}: the late run begins", clock(self.begun)));
                self.stage.start_run(late)?;
            }
            self.do_what_is_due(share).await;
            self.bring_back()?;
            self.look_after()?;
            let is_over = self.stage.runs.iter().all(|run| run.code.is_some());
            if is_over && self.away.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(PROGRESS_POLL).await;
        }
    }

    /// Ends everything.
    pub(super) async fn end(&mut self) {
        self.took = self.begun.elapsed();
        // Runs first, and the server last.
        for (_, actor) in self.stage.actors.iter_mut().rev() {
            actor.kill().await;
        }
    }

    async fn do_what_is_due(&mut self, share: f64) {
        let due = |fault: &Fault| fault.when.is_past(share, self.begun.elapsed());
        let (now, later): (Vec<_>, Vec<_>) = self.schedule.drain(..).partition(due);
        self.schedule = later.into();
        for fault in now {
            if let Some(who) = self.choose(fault.target) {
                self.do_to(who, fault).await;
            } else {
                // All of them are away: as soon as one is back.
                self.schedule.push_front(fault);
            }
        }
    }

    /// A match that is running; `None` when there is none.
    fn choose(&mut self, target: Target) -> Option<usize> {
        let there = |kind: Target| -> Vec<usize> {
            let actors = self.stage.actors.iter().enumerate();
            let of_kind = actors.filter(|(_, (known, _))| *known == kind);
            let places = of_kind.map(|(who, _)| who);
            places.filter(|who| !self.is_away(*who)).collect()
        };
        let mut kinds: Vec<Vec<usize>> = (Target::KINDS.into_iter())
            .filter(|kind| target == Target::Any || target == *kind)
            .map(there)
            .filter(|there| !there.is_empty())
            .collect();
        if kinds.is_empty() {
            return None;
        }
        // The kind first, or hosts would be hit most because there are most.
        let kind = kinds.swap_remove(self.dice.one_of(kinds.len()));
        Some(kind[self.dice.one_of(kind.len())])
    }

    fn is_away(&self, who: usize) -> bool {
        let is_frozen = self.away.iter().any(|(_, away)| *away == who);
        is_frozen || !self.stage.actors[who].1.is_running()
    }

    async fn do_to(&mut self, who: usize, fault: Fault) {
        let (target, actor) = &mut self.stage.actors[who];
        let done = Done {
            at: Utc::now(),
            after: self.begun.elapsed(),
            deed: fault.deed,
            target: *target,
            name: actor.name.clone(),
            lasting: fault.lasting,
        };
        render::say(&format!("{}: {}", clock(self.begun), done.words()));
        match fault.deed {
            FaultAction::Kill => actor.kill().await,
            FaultAction::Stop => actor.freeze(),
        }
        self.away.push((Instant::now() + fault.lasting, who));
        self.done.push(done);
    }

    fn bring_back(&mut self) -> Result<(), CliError> {
        let now = Instant::now();
        // Who is started without a server gives up at once, which is not a fault of the farm.
        let has_server = !self.is_away(SERVER) && self.stage.has_server();
        let (back, away): (Vec<_>, Vec<_>) = self.away.iter().copied().partition(|(due, who)| {
            let can_start = *who == SERVER || self.stage.actors[*who].1.is_running();
            *due <= now && (can_start || has_server)
        });
        self.away = away;
        for (_, who) in back {
            match &self.stage.actors[who].1 {
                actor if actor.is_running() => actor.thaw(),
                _ => self.stage.start_again(who)?,
            }
        }
        Ok(())
    }

    /// Notices runs that have ended, and starts again what else ended and must not.
    fn look_after(&mut self) -> Result<(), CliError> {
        for run in &mut self.stage.runs {
            let actor = &mut self.stage.actors[run.actor].1;
            let Some(code) = actor.ended() else {
                continue;
            };
            let found_nobody = actor.last_words().contains("no farm answers");
            if found_nobody && run.folder().is_none() {
                // It was begun while the server was away, and had promised nothing.
                self.away.push((Instant::now(), run.actor));
            } else {
                run.code = Some(code);
            }
        }
        let server = &mut self.stage.actors[SERVER].1;
        if let Some(code) = server.ended() {
            let message = format!("the server ended by itself with {code}");
            return Err(CliError::infrastructure(message).cause(server.last_words()));
        }
        // A host or a broker that gives up has done wrong, and its work goes on without it; unless the
        // server was killed while it started.
        let actors = self.stage.actors.iter_mut().enumerate();
        let is_of_farm = |kind: &Target| matches!(kind, Target::Host | Target::Broker);
        for (who, (_, actor)) in actors.filter(|(_, (kind, _))| is_of_farm(kind)) {
            if let Some(code) = actor.ended() {
                let (name, words) = (&actor.name, actor.last_words());
                let error = words.lines().rfind(|line| line.starts_with("error: "));
                if error.is_some_and(|error| error.contains("no farm answers")) {
                    self.away.push((Instant::now(), who));
                    continue;
                }
                self.gave_up
                    .push(format!("{name} exited with {code}: {words}"));
                actor.start()?;
            }
        }
        Ok(())
    }
}

fn clock(begun: Instant) -> String {
    format!("{:6.1}s", begun.elapsed().as_secs_f64())
}

impl Done {
    /// `h2 is killed`.
    pub(super) fn words(&self) -> String {
        match self.deed {
            FaultAction::Kill => format!("{} is killed", self.name),
            FaultAction::Stop => format!(
                "{} is stopped for {:.1} s",
                self.name,
                self.lasting.as_secs_f64()
            ),
        }
    }
}

impl Progress {
    /// How many sessions have ended. What cannot be read is read the next time.
    fn count(&mut self, run: &super::stage::FarmRun) -> u32 {
        if self.file.is_none() {
            self.file = run.folder().map(|folder| folder.join("events.ndjson"));
        }
        let Some(file) = &self.file else { return 0 };
        let mut more = Vec::new();
        let read = std::fs::File::open(file).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.read))?;
            file.read_to_end(&mut more)
        });
        self.read += read.unwrap_or_default() as u64;
        self.torn.push_str(&String::from_utf8_lossy(&more));
        let whole = self.torn.rfind('\n').map_or(0, |end| end + 1);
        let is_end = |line: &&str| line.contains("\"event\":\"session_finished\"");
        let ends = self.torn[..whole].lines().filter(is_end).count();
        self.finished += u32::try_from(ends).unwrap_or(u32::MAX);
        self.torn.drain(..whole);
        self.finished
    }
}
