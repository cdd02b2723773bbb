//! Looking at a screen until it shows what is hoped for: a look, a wait for the device to say that
//! something changed, another look.

use std::time::{Duration, Instant};

use packtrain_drivers::{Command, DriverError, Observation, Snapshot, SnapshotDetail};

use crate::call::Call;
use crate::tool::ToolError;

/// Kept back from the call's time, so that giving up is the tool's answer and not the device's.
pub(super) const MARGIN: Duration = Duration::from_millis(250);
/// Looks that follow each change at once; a screen that goes on changing is an animation.
const EAGER: u32 = 2;
/// From then on looks are this far apart.
const PACE: Duration = Duration::from_millis(100);

/// Looks at a screen for a limited time.
pub(crate) struct Watch<'a> {
    call: &'a Call<'a>,
    started: Instant,
    end: Instant,
    /// Whether the call's own time is over before the limit.
    cut_short: bool,
    looks: u32,
    looked: Instant,
    first: Option<Box<Snapshot>>,
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
        let last = call.deadline.checked_sub(MARGIN).unwrap_or(started);
        let wanted = started.checked_add(limit).unwrap_or(last);
        Self {
            call,
            started,
            end: wanted.min(last).max(started),
            cut_short: last < wanted,
            looks: 0,
            looked: started,
            first: None,
        }
    }

    /// The first look has been had already.
    pub(crate) fn starting_from(mut self, snapshot: Box<Snapshot>) -> Self {
        self.first = Some(snapshot);
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
        self.looked = Instant::now();
        match self.first.take() {
            Some(snapshot) => Ok(snapshot),
            None => look(self.call).await,
        }
    }

    /// Waits until the screen differs from the last look; `false` when it did not within `limit`
    /// and the time that is left.
    pub(crate) async fn changes_within(&self, limit: Duration) -> Result<bool, ToolError> {
        let limit = limit.min(self.left());
        if limit.is_zero() {
            return Ok(false);
        }
        match self.call.device(Command::AwaitChange { limit }).await? {
            Observation::Json(serde_json::Value::Bool(changed)) => Ok(changed),
            other => Err(odd("await change", &other)),
        }
    }

    /// Waits until there is something new to look at; `false` when the time is over.
    pub(crate) async fn changes(&self) -> Result<bool, ToolError> {
        let changed = self.changes_within(self.left()).await?;
        if changed && self.looks > EAGER {
            self.rest(PACE).await?;
        }
        Ok(changed)
    }

    /// Lets time pass until `pause` after the last look, but not beyond the end.
    pub(crate) async fn rest(&self, pause: Duration) -> Result<(), ToolError> {
        let rest = pause.saturating_sub(self.looked.elapsed()).min(self.left());
        if rest.is_zero() {
            return Ok(());
        }
        self.call.pause(rest).await
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

    /// The error of having watched in vain.
    pub(crate) fn unmet(&self, Unmet { what, mut log }: Unmet) -> ToolError {
        let waited = self.end.saturating_duration_since(self.started);
        log.push(match self.looks {
            1 => "looked once".to_owned(),
            looks => format!("looked {looks} times"),
        });
        ToolError::Failed {
            message: format!("{what} within {:.1} s", waited.as_secs_f64()),
            log,
            hint: self.cut_short.then(|| {
                "the session's time ran out meanwhile; `--timeout` allows it more".to_owned()
            }),
        }
    }
}

/// Looks at the screen once.
pub(crate) async fn look(call: &Call<'_>) -> Result<Box<Snapshot>, ToolError> {
    match call
        .device(Command::Snapshot(SnapshotDetail::default()))
        .await?
    {
        Observation::Snapshot(snapshot) => Ok(snapshot),
        other => Err(odd("snapshot", &other)),
    }
}

fn odd(command: &str, answer: &Observation) -> ToolError {
    let kind = match answer {
        Observation::Done(_) => "a report",
        Observation::Snapshot(_) => "a snapshot",
        Observation::Screenshot(_) => "a screenshot",
        Observation::Text(_) => "a text",
        Observation::Json(_) => "other data",
    };
    DriverError::lost(format!("its driver answers {kind} to `{command}`")).into()
}
