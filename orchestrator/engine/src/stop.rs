//! Why a run stops before its end, and how everybody learns of it.

use packtrain_model::CancelCause;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Why a run stops before its end. Later ones are stronger and take over from earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopReason {
    /// `--fail-fast`, and a session did not pass.
    FailFast,
    /// The run's time is over.
    TimeLimit,
    /// Ctrl-C or a termination signal.
    Interrupt,
    /// Sessions were asked to stop and did not for too long.
    Overdue,
    /// Another signal: nothing is waited for any more.
    SecondInterrupt,
}

impl StopReason {
    /// How the sessions that it ends tell it.
    pub(crate) const fn cause(self) -> CancelCause {
        match self {
            Self::FailFast => CancelCause::FailFast,
            Self::TimeLimit => CancelCause::TimeLimit,
            Self::Interrupt | Self::Overdue | Self::SecondInterrupt => CancelCause::Interrupt,
        }
    }
}

/// Asks a run to stop, from anywhere. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Stop(watch::Sender<Option<StopReason>>);

impl Stop {
    /// Asks the run to stop; a weaker reason than an earlier one is ignored.
    pub fn request(&self, reason: StopReason) {
        self.0.send_if_modified(|current| {
            let is_stronger = current.is_none_or(|current| current < reason);
            if is_stronger {
                *current = Some(reason);
            }
            is_stronger
        });
    }

    /// The strongest reason so far, and those that come.
    pub(crate) fn reasons(&self) -> watch::Receiver<Option<StopReason>> {
        let mut reasons = self.0.subscribe();
        reasons.mark_changed();
        reasons
    }
}

/// How a session learns that it shall end, and why. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct SessionStop {
    token: CancellationToken,
    cause: watch::Sender<Option<CancelCause>>,
}

impl SessionStop {
    /// Asks the session to end.
    pub fn cancel(&self, cause: CancelCause) {
        self.cause.send_replace(Some(cause));
        self.token.cancel();
    }

    /// Cancelled once the session shall end.
    pub const fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Why it shall end; an interrupt by default.
    pub fn cause(&self) -> CancelCause {
        self.cause.borrow().unwrap_or(CancelCause::Interrupt)
    }
}
