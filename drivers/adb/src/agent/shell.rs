//! Plain shell commands as an agent: `uiautomator dump` and `input`. Always there, slow, ASCII.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use packtrain_drivers::{BoxFuture, Point};
use tokio::time::Instant;

use super::text::{Typing, is_typeable, steps};
use super::{AgentError, Answer, Keycode, UiAgent};
use crate::phone::{Phone, Repeat};
use crate::wire::shell::quote;

/// The most keys one command presses.
const MAX_KEYS: usize = 100;

/// The agent that needs nothing on the device.
#[derive(Debug)]
pub(crate) struct ShellAgent {
    phone: Arc<Phone>,
}

impl ShellAgent {
    pub(crate) const fn new(phone: Arc<Phone>) -> Self {
        Self { phone }
    }

    /// Runs `input`, which prints nothing when it succeeds and may exit with 0 when it does not.
    async fn input(&self, arguments: &str, deadline: Instant) -> Result<(), AgentError> {
        let command = format!("input {arguments}");
        let output = self
            .phone
            .shell(&command, Repeat::IfNotBegun, deadline)
            .await?;
        let said = output.said();
        if output.exit == 0 && said.is_empty() {
            return Ok(());
        }
        Err(AgentError::Refused(explained(&command, &said, output.exit)))
    }
}

/// What `input` said, as far as it is of use, and what is known of it.
fn explained(command: &str, said: &str, exit: u8) -> String {
    let line = said
        .lines()
        .map(str::trim)
        .find(|line| line.contains("Exception:") || line.contains("Error:"))
        .or_else(|| said.lines().next())
        .unwrap_or("no reason given");
    let hint = if said.contains("INJECT_EVENTS") {
        "; turn on \"USB debugging (Security settings)\" in the device's developer options"
    } else {
        ""
    };
    format!("`{command}` failed with exit code {exit}: {line}{hint}")
}

impl UiAgent for ShellAgent {
    fn name(&self) -> &'static str {
        "shell"
    }

    fn start(&self, deadline: Instant) -> Answer<'_, ()> {
        Box::pin(async move {
            self.phone.await_ready(deadline).await?;
            Ok(())
        })
    }

    fn hierarchy(&self, deadline: Instant) -> Answer<'_, String> {
        Box::pin(async move {
            // Through `exec:`, which gives the command a terminal: with `shell,v2` there is no
            // /dev/tty, and the dump goes nowhere while the command succeeds.
            let service = "exec:uiautomator dump /dev/tty";
            let doing = "`uiautomator dump`";
            let bytes = match self
                .phone
                .converse(service, doing, Bytes::new(), deadline)
                .await
            {
                Err(error) if error.is_loss() => {
                    self.phone.await_reconnection(&error, deadline).await?;
                    self.phone
                        .converse(service, doing, Bytes::new(), deadline)
                        .await?
                }
                answer => answer?,
            };
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        })
    }

    fn touch(&self, at: Point, hold: Option<Duration>, deadline: Instant) -> Answer<'_, ()> {
        Box::pin(async move {
            let at = pixels(at);
            match hold {
                None => self.input(&format!("tap {at}"), deadline).await,
                Some(hold) => {
                    // A swipe from a place to itself is a press.
                    let ms = hold.as_millis();
                    self.input(&format!("swipe {at} {at} {ms}"), deadline).await
                }
            }
        })
    }

    fn swipe(&self, from: Point, to: Point, time: Duration, deadline: Instant) -> Answer<'_, ()> {
        Box::pin(async move {
            let (from, to, ms) = (pixels(from), pixels(to), time.as_millis());
            self.input(&format!("swipe {from} {to} {ms}"), deadline)
                .await
        })
    }

    fn drag(&self, from: Point, to: Point, time: Duration, deadline: Instant) -> Answer<'_, ()> {
        Box::pin(async move {
            let (from, to, ms) = (pixels(from), pixels(to), time.as_millis());
            self.input(&format!("draganddrop {from} {to} {ms}"), deadline)
                .await
        })
    }

    fn pinch(&self, _: [Point; 2], _: [Point; 2], _: Duration, _: Instant) -> Answer<'_, ()> {
        // `input` knows one finger.
        Box::pin(std::future::ready(Err(AgentError::NeedsU2)))
    }

    fn type_text<'a>(&'a self, text: &'a str, deadline: Instant) -> Answer<'a, ()> {
        Box::pin(async move {
            if !is_typeable(text) {
                return Err(AgentError::NeedsU2);
            }
            for step in steps(text) {
                let arguments = match step {
                    Typing::Word(word) => format!("text {}", quote(&word)),
                    Typing::Key(key) => format!("keyevent {key}"),
                };
                self.input(&arguments, deadline).await?;
            }
            Ok(())
        })
    }

    fn clear_field(&self, length: usize, deadline: Instant) -> Answer<'_, ()> {
        Box::pin(async move {
            let mut keys = vec![Keycode::MOVE_END];
            keys.extend(std::iter::repeat_n(Keycode::DEL, length));
            self.press(&keys, deadline).await
        })
    }

    fn press<'a>(&'a self, keys: &'a [Keycode], deadline: Instant) -> Answer<'a, ()> {
        Box::pin(async move {
            for keys in keys.chunks(MAX_KEYS) {
                let codes: Vec<String> = keys.iter().map(ToString::to_string).collect();
                self.input(&format!("keyevent {}", codes.join(" ")), deadline)
                    .await?;
            }
            Ok(())
        })
    }

    fn set_clipboard<'a>(&'a self, _: &'a str, _: Instant) -> Answer<'a, ()> {
        Box::pin(std::future::ready(Err(AgentError::NeedsU2)))
    }

    fn paste(&self, deadline: Instant) -> Answer<'_, ()> {
        Box::pin(async move { self.press(&[Keycode::PASTE], deadline).await })
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Pixels, which are whole.
fn pixels(at: Point) -> String {
    format!("{:.0} {:.0}", at.x, at.y)
}
