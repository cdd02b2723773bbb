//! Looking at a screen until it shows what is hoped for, or until it rests: a look, a wait for the
//! device to show something else, another look. What a step on a phone waits for, it waits for here.

use std::time::Duration;

use packtrain_drivers::{
    ActionReport, Command, DriverError, Observation, ScreenMark, Snapshot, SnapshotDetail,
};
use tokio::time::Instant;

use crate::call::Call;
use crate::tool::{Answer, ToolError};

/// Kept back from the call's time, so that giving up is the tool's answer and not the device's;
/// a quarter of it where that is less.
const MARGIN: Duration = Duration::from_millis(250);
/// Looks that follow each change at once; a screen that goes on changing is an animation.
const EAGER_LOOKS: u32 = 2;
/// From then on looks are this far apart.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Looks at a screen for a limited time.
pub(crate) struct Watch<'a> {
    call: &'a Call<'a>,
    started: Instant,
    end: Instant,
    /// Whether the call's own time is over before the limit.
    cut_short: bool,
    looks: u32,
    looked: Instant,
    /// What the last look showed.
    mark: Option<ScreenMark>,
    /// A look that was had already, and when it was asked for.
    next: Option<(Box<Snapshot>, Instant)>,
}

/// How waiting for a screen to come to rest ended.
pub(crate) enum Rest {
    /// Nothing moves any more.
    Still(Box<Snapshot>),
    /// Something moved until the time was over.
    Moving(Box<Snapshot>),
}

/// What was hoped for and why it is not there.
pub(crate) struct Unmet {
    pub(crate) what: String,
    pub(crate) log: Vec<String>,
}

impl<'a> Watch<'a> {
    /// Watches for `limit`, or for as long as the call has.
    pub(crate) fn new(call: &'a Call<'a>, limit: Duration) -> Self {
        let started = Instant::now();
        let margin = MARGIN.min(call.remaining() / 4);
        let last = call.deadline.checked_sub(margin).unwrap_or(started);
        let wanted = started.checked_add(limit).unwrap_or(last);
        Self {
            call,
            started,
            end: wanted.min(last).max(started),
            cut_short: last < wanted,
            looks: 0,
            looked: started,
            mark: None,
            next: None,
        }
    }

    /// The first look has been had already.
    pub(crate) fn starting_from(mut self, snapshot: Box<Snapshot>) -> Self {
        self.next = Some((snapshot, self.started));
        self
    }

    /// The call it is for.
    pub(crate) const fn call(&self) -> &'a Call<'a> {
        self.call
    }

    /// How often it has looked.
    pub(crate) const fn looks(&self) -> u32 {
        self.looks
    }

    /// When it looked last.
    pub(crate) const fn looked(&self) -> Instant {
        self.looked
    }

    /// Time that is left.
    pub(crate) fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Looks at the screen.
    pub(crate) async fn look(&mut self) -> Result<Box<Snapshot>, ToolError> {
        self.looks += 1;
        let (snapshot, looked) = match self.next.take() {
            Some(next) => next,
            None => {
                let asked = Instant::now();
                (look(self.call, SnapshotDetail::default()).await?, asked)
            }
        };
        self.looked = looked;
        self.mark = Some(snapshot.mark);
        Ok(snapshot)
    }

    /// Waits until the screen differs from the last look; `false` when it did not within `limit`
    /// and the time that is left.
    pub(crate) async fn changes_within(&mut self, limit: Duration) -> Result<bool, ToolError> {
        if self.left().is_zero() {
            return Ok(false);
        }
        self.changes_or_not(limit).await
    }

    async fn changes_or_not(&mut self, limit: Duration) -> Result<bool, ToolError> {
        let Some(since) = self.mark else {
            return Ok(true);
        };
        let limit = limit.min(self.left());
        let asked = Instant::now();
        match self
            .call
            .device(Command::AwaitChange { since, limit })
            .await?
        {
            Observation::Unchanged => Ok(false),
            Observation::Snapshot(snapshot) => {
                self.next = Some((snapshot, asked));
                Ok(true)
            }
            other => Err(odd("await change", &other)),
        }
    }

    /// Waits until there is something new to look at; `false` when the time is over.
    pub(crate) async fn changes(&mut self) -> Result<bool, ToolError> {
        if self.looks > EAGER_LOOKS {
            self.rest(LOOK_INTERVAL).await?;
        }
        self.changes_within(self.left()).await
    }

    /// Lets time pass until `pause` after the last look, but not beyond the end.
    pub(crate) async fn rest(&mut self, pause: Duration) -> Result<(), ToolError> {
        let rest = pause.saturating_sub(self.looked.elapsed()).min(self.left());
        if rest.is_zero() {
            return Ok(());
        }
        // What was seen is too old by then.
        self.next = None;
        self.call.pause(rest).await
    }

    /// Looks until nothing has changed for `quiet`.
    pub(crate) async fn until_still(&mut self, quiet: Duration) -> Result<Rest, ToolError> {
        let mut snapshot = self.look().await?;
        let mut since = Instant::now();
        loop {
            if self.left().is_zero() {
                return Ok(Rest::Moving(snapshot));
            }
            // The last look is the one that proves it, so it comes when the time is up.
            let pause = quiet.saturating_sub(since.elapsed());
            self.call
                .pause(pause.min(LOOK_INTERVAL).min(self.left()))
                .await?;
            let asked = Instant::now();
            if self.changes_or_not(Duration::ZERO).await? {
                snapshot = self.look().await?;
                since = Instant::now();
            } else if asked.duration_since(since) >= quiet {
                self.call.session.screen().still_since(since);
                return Ok(Rest::Still(snapshot));
            }
        }
    }

    /// Looks until `test` finds what it looks for. What `complain` says of the last look is the
    /// error.
    pub(crate) async fn until<T>(
        &mut self,
        mut test: impl FnMut(&Snapshot) -> Option<T>,
        complain: impl FnOnce(&Snapshot) -> Unmet,
    ) -> Result<(Box<Snapshot>, T), ToolError> {
        loop {
            let snapshot = self.look().await?;
            if let Some(found) = test(&snapshot) {
                return Ok((snapshot, found));
            }
            if !self.changes().await? {
                return Err(self.unmet(complain(&snapshot)));
            }
        }
    }

    /// The answer of one that need not have seen the screen at rest.
    pub(crate) fn still_moving(&self) -> Answer {
        let waited = self.started.elapsed().as_secs_f64();
        let note = format!("the screen was still changing after {waited:.1} s");
        ActionReport {
            located: None,
            notes: vec![note],
        }
        .into()
    }

    /// The error of having watched in vain.
    pub(crate) fn unmet(&self, Unmet { what, mut log }: Unmet) -> ToolError {
        let waited = self.end.saturating_duration_since(self.started);
        log.push(match self.looks {
            1 => "read the screen once".to_owned(),
            looks => format!("read the screen {looks} times"),
        });
        ToolError::Failed {
            message: format!("{what} within {:.1} s", waited.as_secs_f64()),
            log,
            hint: self.cut_short.then(|| {
                "the session's or the step's time was up; `--timeout` and `--step-timeout` allow more"
                    .to_owned()
            }),
        }
    }
}

/// Looks at the screen once.
pub(crate) async fn look(
    call: &Call<'_>,
    detail: SnapshotDetail,
) -> Result<Box<Snapshot>, ToolError> {
    match call.device(Command::Snapshot(detail)).await? {
        Observation::Snapshot(snapshot) => Ok(snapshot),
        other => Err(odd("snapshot", &other)),
    }
}

fn odd(command: &str, answer: &Observation) -> ToolError {
    let kind = match answer {
        Observation::Done(_) => "a report",
        Observation::Snapshot(_) => "a snapshot",
        Observation::Observed(_) => "an observation",
        Observation::Begun(_) => "a begun session",
        Observation::Unchanged => "no change",
        Observation::Screenshot(_) => "a screenshot",
        Observation::Text(_) => "a text",
        Observation::Json(_) => "other data",
    };
    DriverError::lost(format!("its driver answered `{command}` with {kind}")).into()
}
