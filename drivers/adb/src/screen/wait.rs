//! Waiting for the screen: until it rests, until it differs.
//!
//! The driver looks again and again and compares; it never uses the device's own idle wait, which
//! takes ten seconds when something moves.

use std::time::{Duration, Instant};

use packtrain_drivers::{ActionReport, DriverError, Observation};

use super::Screen;
use crate::fault::Trouble;
use crate::hand::{Hand, Result};

/// The pause between two looks.
const LOOKS: Duration = Duration::from_millis(80);

impl Hand {
    /// Waits until the screen has been still for `quiet`, or until `end`.
    pub(crate) async fn settle(&self, quiet: Duration, end: Instant) -> Result<Observation> {
        let start = Instant::now();
        let mut still: Option<Still> = None;
        loop {
            let begun = Instant::now();
            let screen = match self.read(end).await {
                Ok(screen) => screen,
                // What cannot be read is not at rest; what comes next will say what is wrong.
                Err(Trouble::Driver(DriverError::Timeout { .. })) => {
                    return Ok(moving(start.elapsed()));
                }
                Err(error) => return Err(error),
            };
            // The plain dump waits for quiet itself before it answers.
            let own = self.agent.waits_for_quiet();
            if !own.is_zero() && own >= quiet && begun.elapsed() >= own {
                return Ok(rested());
            }
            let print = screen.print();
            match &still {
                Some(still) if still.print == print => {
                    if begun.duration_since(still.since) >= quiet {
                        return Ok(rested());
                    }
                }
                Some(_) | None => {
                    if quiet.is_zero() {
                        return Ok(rested());
                    }
                    still = Some(Still {
                        print,
                        since: Instant::now(),
                    });
                }
            }
            if Instant::now() + LOOKS >= end {
                return Ok(moving(start.elapsed()));
            }
            tokio::time::sleep(LOOKS.min(quiet)).await;
        }
    }

    /// Waits until the screen differs from `before`, or until `end`; answers whether it does.
    pub(crate) async fn await_change(&self, before: &Screen, end: Instant) -> Result<bool> {
        let before = before.print();
        loop {
            match self.read(end).await {
                Ok(screen) if screen.print() != before => return Ok(true),
                Ok(_) => {}
                Err(Trouble::Driver(DriverError::Timeout { .. })) => return Ok(false),
                Err(error) => return Err(error),
            }
            if Instant::now() + LOOKS >= end {
                return Ok(false);
            }
            tokio::time::sleep(LOOKS).await;
        }
    }
}

/// What was seen, and since when nothing else was.
struct Still {
    print: String,
    since: Instant,
}

fn rested() -> Observation {
    Observation::Done(ActionReport::default())
}

fn moving(after: Duration) -> Observation {
    Observation::Done(ActionReport {
        located: None,
        notes: vec![format!(
            "the screen was still changing after {:.1} s",
            after.as_secs_f64()
        )],
    })
}
