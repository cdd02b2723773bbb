//! A rehearsal as it goes on: runs begin, what the schedule says is killed, and what was killed comes
//! back.

use std::collections::VecDeque;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::time::Instant;

use super::faults::{Deed, Dice, Fault, Schedule, Target};
use super::stage::Stage;
use crate::exit::CliError;
use crate::render;

/// How often it is looked how far the runs are.
const PROGRESS_POLL: Duration = Duration::from_millis(50);
/// The share of the first run's sessions after which the late one begins.
const LATE_SHARE: f64 = 0.25;

/// A rehearsal under way.
pub(super) struct Show {
    stage: Stage,
    schedule: VecDeque<Fault>,
    dice: Dice,
    seed: u64,
    begun: Instant,
    /// What is to come back, and when.
    away: Vec<(Instant, Actor)>,
    done: Vec<Done>,
    gave_up: Vec<String>,
    progress: Progress,
}

/// What was done to the farm.
#[derive(Debug, Clone)]
pub(super) struct Done {
    pub(super) at: DateTime<Utc>,
    /// Since the run began.
    pub(super) after: Duration,
    pub(super) deed: Deed,
    pub(super) target: Target,
    /// To whom: `h2`.
    pub(super) name: String,
    /// How long it was to stay away.
    pub(super) lasting: Duration,
}

/// Who is meant, by place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Actor {
    Host(usize),
    Broker(usize),
    Run(usize),
    Server,
}

/// A rehearsal that is over.
pub(super) struct Story {
    pub(super) stage: Stage,
    pub(super) seed: u64,
    pub(super) done: Vec<Done>,
    /// Hosts and brokers that ended although nobody had killed them.
    pub(super) gave_up: Vec<String>,
    /// Faults whose moment never came.
    pub(super) undone: usize,
    pub(super) took: Duration,
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
    pub(super) fn new(stage: Stage, schedule: Schedule, seed: u64) -> Self {
        Self {
            stage,
            schedule: schedule.0.into(),
            dice: Dice::new(seed),
            seed,
            begun: Instant::now(),
            away: Vec::new(),
            done: Vec::new(),
            gave_up: Vec::new(),
            progress: Progress::default(),
        }
    }

    /// Plays it to the end of all its runs.
    pub(super) async fn play(&mut self, sessions: u32, late: u32) -> Result<(), CliError> {
        self.stage.start_run(sessions)?;
        self.begun = Instant::now();
        loop {
            let first = &self.stage.runs[0];
            let share = f64::from(self.progress.count(first)) / f64::from(first.sessions);
            if late > 0 && self.stage.runs.len() == 1 && share >= LATE_SHARE {
                render::say(&format!("{}: the late run begins", self.clock()));
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
    pub(super) async fn end(mut self) -> Story {
        let took = self.begun.elapsed();
        for run in &mut self.stage.runs {
            run.actor.kill().await;
        }
        for host in &mut self.stage.hosts {
            host.kill().await;
        }
        for broker in &mut self.stage.brokers {
            broker.kill().await;
        }
        self.stage.server.kill().await;
        Story {
            stage: self.stage,
            seed: self.seed,
            done: self.done,
            gave_up: self.gave_up,
            undone: self.schedule.len(),
            took,
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

    /// Somebody who is meant, and there; `None` when nobody is.
    fn choose(&mut self, target: Target) -> Option<Actor> {
        let is_there = |who: &Actor| !self.is_away(*who);
        let hosts = (0..self.stage.hosts.len()).map(Actor::Host);
        let brokers = (0..self.stage.brokers.len()).map(Actor::Broker);
        let runs = (0..self.stage.runs.len()).map(Actor::Run);
        let meant: Vec<Vec<Actor>> = match target {
            Target::Host => vec![hosts.collect()],
            Target::Broker => vec![brokers.collect()],
            Target::Run => vec![runs.collect()],
            Target::Server => vec![vec![Actor::Server]],
            Target::Any => vec![
                hosts.collect(),
                brokers.collect(),
                runs.collect(),
                vec![Actor::Server],
            ],
        };
        let there = meant.into_iter().map(|kind| {
            let there: Vec<Actor> = kind.into_iter().filter(is_there).collect();
            there
        });
        let mut kinds: Vec<Vec<Actor>> = there.filter(|kind| !kind.is_empty()).collect();
        if kinds.is_empty() {
            return None;
        }
        // The kind first, or hosts would be hit most because there are most.
        let kind = kinds.swap_remove(self.dice.one_of(kinds.len()));
        Some(kind[self.dice.one_of(kind.len())])
    }

    fn is_away(&self, who: Actor) -> bool {
        let is_frozen = self.away.iter().any(|(_, away)| *away == who);
        is_frozen || !self.stage.actor_of(who).is_running()
    }

    async fn do_to(&mut self, who: Actor, fault: Fault) {
        let done = Done {
            at: Utc::now(),
            after: self.begun.elapsed(),
            deed: fault.deed,
            target: who.target(),
            name: self.stage.actor_of(who).name.clone(),
            lasting: fault.lasting,
        };
        render::say(&format!("{}: {}", self.clock(), done.words()));
        match fault.deed {
            Deed::Kill => self.stage.actor_mut(who).kill().await,
            Deed::Stop => self.stage.actor_of(who).freeze(),
        }
        self.away.push((Instant::now() + fault.lasting, who));
        self.done.push(done);
    }

    fn bring_back(&mut self) -> Result<(), CliError> {
        let now = Instant::now();
        // Who is started without a server gives up at once, which is no fault of the farm.
        let has_server = !self.is_away(Actor::Server) && self.stage.has_server();
        let (back, away): (Vec<_>, Vec<_>) = self.away.iter().copied().partition(|(due, who)| {
            let can_start = *who == Actor::Server || self.stage.actor_of(*who).is_running();
            *due <= now && (can_start || has_server)
        });
        self.away = away;
        for (_, who) in back {
            let actor = self.stage.actor_of(who);
            match (actor.is_running(), who) {
                (true, _) => actor.thaw(),
                (false, Actor::Run(number)) => self.stage.resume(number)?,
                (false, _) => self.stage.actor_mut(who).start()?,
            }
        }
        Ok(())
    }

    /// Notices runs that have ended, and starts again what else ended and must not.
    fn look_after(&mut self) -> Result<(), CliError> {
        for (number, run) in self.stage.runs.iter_mut().enumerate() {
            let Some(code) = run.actor.ended() else {
                continue;
            };
            let found_nobody = run.actor.last_words().contains("no farm answers");
            if found_nobody && run.folder().is_none() {
                // It was begun while the server was away, and had promised nothing.
                self.away.push((Instant::now(), Actor::Run(number)));
            } else {
                run.code = Some(code);
            }
        }
        if let Some(code) = self.stage.server.ended() {
            return Err(CliError::infrastructure(format!(
                "the server ended by itself with {code}"
            ))
            .cause(self.stage.server.last_words()));
        }
        // A host or a broker that gives up has done wrong, and its work goes on without it; unless the
        // server was killed while it started.
        let hosts = self.stage.hosts.iter_mut().enumerate();
        let hosts = hosts.map(|(number, host)| (Actor::Host(number), host));
        let brokers = self.stage.brokers.iter_mut().enumerate();
        let brokers = brokers.map(|(number, broker)| (Actor::Broker(number), broker));
        for (who, actor) in hosts.chain(brokers) {
            if let Some(code) = actor.ended() {
                let (name, words) = (&actor.name, actor.last_words());
                let error = words.lines().rfind(|line| line.starts_with("error: "));
                if error.is_some_and(|error| error.contains("no farm answers")) {
                    self.away.push((Instant::now(), who));
                    continue;
                }
                self.gave_up
                    .push(format!("{name} gave up with {code}: {words}"));
                actor.start()?;
            }
        }
        Ok(())
    }

    fn clock(&self) -> String {
        format!("{:6.1}s", self.begun.elapsed().as_secs_f64())
    }
}

impl Stage {
    fn actor_of(&self, who: Actor) -> &super::actor::Actor {
        match who {
            Actor::Host(number) => &self.hosts[number],
            Actor::Broker(number) => &self.brokers[number],
            Actor::Run(number) => &self.runs[number].actor,
            Actor::Server => &self.server,
        }
    }

    fn actor_mut(&mut self, who: Actor) -> &mut super::actor::Actor {
        match who {
            Actor::Host(number) => &mut self.hosts[number],
            Actor::Broker(number) => &mut self.brokers[number],
            Actor::Run(number) => &mut self.runs[number].actor,
            Actor::Server => &mut self.server,
        }
    }
}

impl Actor {
    const fn target(self) -> Target {
        match self {
            Self::Host(_) => Target::Host,
            Self::Broker(_) => Target::Broker,
            Self::Run(_) => Target::Run,
            Self::Server => Target::Server,
        }
    }
}

impl Done {
    /// `h2 is killed`.
    pub(super) fn words(&self) -> String {
        match self.deed {
            Deed::Kill => format!("{} is killed", self.name),
            Deed::Stop => format!(
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
