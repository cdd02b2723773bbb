//! u2.jar, uiautomator2's server, as an agent: it stays on the device and reads a screen in tens
//! of milliseconds, animations or not.
//!
//! Source: the public interface of `android-uiautomator-server-jar` 0.4. The server is started
//! through a shell stream and ends with it; each call is a stream of its own to its port, so
//! there is nothing to forward and nothing to lose when adb reconnects.

mod enter;
mod jar;
mod launch;
mod pinch;

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use packtrain_drivers::{BoxFuture, DeviceEvent, Point};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::time::Instant;

pub(crate) use self::jar::Jar;
use super::process::Process;
use super::rpc::{self, Outcome};
use super::text::is_typeable;
use super::{AgentError, Answer, Keycode, ShellAgent, UiAgent, http};
use crate::phone::{Phone, Reconnection, Repeat};
use crate::wire::WireError;

/// The longest a call takes that does not itself last.
const CALL_TIMEOUT: Duration = Duration::from_secs(15);
/// How often a server that ended during a call is started again for it.
const RESTARTS: usize = 2;
/// The pause before a call that the server has not begun with is sent again.
const REPEAT_INTERVAL: Duration = Duration::from_millis(100);
/// How long a tap is held. The method's own default is twice that.
const TAP_TIME: Duration = Duration::from_millis(50);
/// How long one step of a swipe takes on the device.
const SWIPE_STEP_TIME: Duration = Duration::from_millis(5);
/// Nesting beyond which the server cuts a dump. Its default, 50, is not enough for web views.
const MAX_DEPTH: u32 = 400;
/// The longest text that is typed key by key; longer ones are set as a whole.
const MAX_TYPED: usize = 200;

/// The agent that needs u2.jar.
#[derive(Debug)]
pub(crate) struct U2Agent {
    phone: Arc<Phone>,
    jar: Arc<Jar>,
    /// For what plain commands do as well.
    plain: ShellAgent,
    /// Where the server listens on the device.
    port: AtomicU16,
    server: Mutex<Server>,
    clipboard: Mutex<Clipboard>,
}

/// The device's clipboard.
#[derive(Debug, Default)]
struct Clipboard {
    /// What was put there for its own sake.
    wanted: Option<String>,
    /// Text was entered by pasting since.
    is_clobbered: bool,
}

/// What is known of the server.
#[derive(Debug, Default)]
enum Server {
    #[default]
    Down,
    Up(Process),
    /// It has not answered in time; maybe it never will.
    Suspect(Process),
}

/// What became of a call.
enum Attempt {
    Answered(Value),
    /// The server was gone before it was asked.
    NotBegun,
    /// The server is of no use any more, and the call may be made again.
    Ended,
    /// The connection to the device was cut, and mended; it is not known whether it did it.
    Cut(WireError),
}

impl U2Agent {
    pub(crate) fn new(phone: Arc<Phone>, jar: Arc<Jar>) -> Self {
        Self {
            plain: ShellAgent::new(Arc::clone(&phone)),
            phone,
            jar,
            port: AtomicU16::new(launch::PORT),
            server: Mutex::default(),
            clipboard: Mutex::default(),
        }
    }

    /// Calls a method, starting the server when it is not there.
    async fn call(
        &self,
        method: &str,
        params: Value,
        repeat: Repeat,
        lasts: Duration,
        deadline: Instant,
    ) -> Result<Value, AgentError> {
        let body = rpc::call(method, &params);
        let mut losses = 0;
        loop {
            self.ensure(deadline).await?;
            let attempt = self.attempt(method, &body, repeat, lasts, deadline);
            match attempt.await? {
                Attempt::Answered(value) => return Ok(value),
                Attempt::NotBegun => tokio::time::sleep(REPEAT_INTERVAL).await,
                Attempt::Ended if losses == RESTARTS => {
                    return Err(AgentError::Died {
                        doing: format!("`{method}`"),
                    });
                }
                Attempt::Cut(error) if losses == RESTARTS => return Err(error.into()),
                Attempt::Ended => losses += 1,
                // That the device came back has been told.
                Attempt::Cut(_) => {
                    losses += 1;
                    continue;
                }
            }
            self.report_restart(method);
        }
    }

    /// One call.
    async fn attempt(
        &self,
        method: &str,
        body: &str,
        repeat: Repeat,
        lasts: Duration,
        deadline: Instant,
    ) -> Result<Attempt, AgentError> {
        // A server that hangs leaves time for another, and to look at what it did.
        let limit = deadline.min(Instant::now() + CALL_TIMEOUT + lasts);
        let error = match self.post(method, body, limit).await {
            Ok(Outcome::Result(value)) => return Ok(Attempt::Answered(value)),
            Ok(Outcome::Threw(text)) => return Err(AgentError::Refused(text)),
            Ok(Outcome::Disconnected(text)) => {
                tracing::debug!(text, method, "the agent lost its UI automation");
                *self.server.lock().await = Server::Down;
                return Ok(Attempt::Ended);
            }
            Err(error) => error,
        };
        match &error {
            WireError::Timeout { .. } => {
                self.suspect().await;
                return match repeat {
                    _ if limit >= deadline => Err(error.into()),
                    Repeat::Freely => Ok(Attempt::Ended),
                    Repeat::IfNotBegun => Err(AgentError::Silent {
                        doing: format!("`{method}`"),
                    }),
                };
            }
            WireError::ServiceRefused { .. } | WireError::Garbled { .. } => {}
            error if error.is_loss() => {
                let needed = self.phone.await_reconnection(error, deadline).await?;
                if needed == Reconnection::Done {
                    self.phone.report_reconnection(error);
                    *self.server.lock().await = Server::Down;
                    return match repeat {
                        _ if error.nothing_was_done() => Ok(Attempt::NotBegun),
                        Repeat::Freely => Ok(Attempt::Cut(error.clone())),
                        // The agent ended with its device's connection, and not by itself.
                        Repeat::IfNotBegun => Err(error.clone().into()),
                    };
                }
            }
            _ => return Err(error.into()),
        }
        *self.server.lock().await = Server::Down;
        if error.nothing_was_done() {
            return Ok(Attempt::NotBegun);
        }
        match repeat {
            Repeat::Freely => Ok(Attempt::Ended),
            Repeat::IfNotBegun => Err(AgentError::Died {
                doing: format!("`{method}`"),
            }),
        }
    }

    async fn post(
        &self,
        method: &str,
        body: &str,
        deadline: Instant,
    ) -> Result<Outcome, WireError> {
        let doing = format!("the agent's `{method}`");
        let (status, answer) = self
            .exchange("/jsonrpc/0", Some(body), &doing, deadline)
            .await?;
        let garbled = |reason: String| WireError::Garbled {
            doing: doing.clone(),
            reason,
        };
        if status != 200 {
            return Err(garbled(format!("HTTP status {status}")));
        }
        rpc::answer(&answer).map_err(garbled)
    }

    async fn exchange(
        &self,
        path: &str,
        body: Option<&str>,
        doing: &str,
        deadline: Instant,
    ) -> Result<(u16, bytes::Bytes), WireError> {
        let port = self.port.load(Ordering::Relaxed);
        let request = http::request(path, port, body).into();
        let service = format!("tcp:{port}");
        let all = self
            .phone
            .converse(&service, doing, request, deadline)
            .await?;
        if all.is_empty() {
            return Err(WireError::Lost {
                doing: doing.to_owned(),
            });
        }
        http::response(&all).map_err(|reason| WireError::Garbled {
            doing: doing.to_owned(),
            reason,
        })
    }

    async fn suspect(&self) {
        let mut server = self.server.lock().await;
        *server = match std::mem::take(&mut *server) {
            Server::Up(process) => Server::Suspect(process),
            other => other,
        };
    }

    fn report_restart(&self, method: &str) {
        self.phone.report(DeviceEvent::Reconnected {
            what: format!("the agent on the device ended during `{method}` and is started again"),
        });
    }

    /// A method whose result says whether the device did it.
    async fn act(&self, method: &str, params: Value, deadline: Instant) -> Result<(), AgentError> {
        self.act_for(Duration::ZERO, method, params, deadline).await
    }

    /// As [`U2Agent::act`], of what takes some time by itself.
    async fn act_for(
        &self,
        time: Duration,
        method: &str,
        params: Value,
        deadline: Instant,
    ) -> Result<(), AgentError> {
        match self
            .call(method, params, Repeat::IfNotBegun, time, deadline)
            .await?
        {
            Value::Bool(false) => Err(AgentError::Refused(format!(
                "the device did not take `{method}`"
            ))),
            _ => Ok(()),
        }
    }

    async fn dump(&self, deadline: Instant) -> Result<String, AgentError> {
        let params = json!([false, MAX_DEPTH]);
        let dump = self
            .call(
                "dumpWindowHierarchy",
                params,
                Repeat::Freely,
                Duration::ZERO,
                deadline,
            )
            .await?;
        match dump {
            Value::String(text) => Ok(text),
            other => Err(AgentError::Refused(format!(
                "`dumpWindowHierarchy` answered {other}"
            ))),
        }
    }
}

impl UiAgent for U2Agent {
    fn name(&self) -> &'static str {
        "u2"
    }

    fn start(&self, deadline: Instant) -> Answer<'_, ()> {
        Box::pin(self.ensure(deadline))
    }

    fn hierarchy(&self, deadline: Instant) -> Answer<'_, String> {
        Box::pin(self.dump(deadline))
    }

    fn touch(&self, at: Point, hold: Option<Duration>, deadline: Instant) -> Answer<'_, ()> {
        Box::pin(async move {
            let (x, y) = pixels(at);
            let time = hold.unwrap_or(TAP_TIME);
            let params = json!([x, y, millis(time)]);
            self.act_for(time, "click", params, deadline).await
        })
    }

    fn swipe(&self, from: Point, to: Point, time: Duration, deadline: Instant) -> Answer<'_, ()> {
        Box::pin(self.act_for(time, "swipe", stroke(from, to, time), deadline))
    }

    fn drag(&self, from: Point, to: Point, time: Duration, deadline: Instant) -> Answer<'_, ()> {
        Box::pin(self.act_for(time, "drag", stroke(from, to, time), deadline))
    }

    fn pinch(
        &self,
        from: [Point; 2],
        to: [Point; 2],
        time: Duration,
        deadline: Instant,
    ) -> Answer<'_, ()> {
        let params = pinch::gesture(from.map(pixels), to.map(pixels), time);
        Box::pin(self.act_for(time, "gesture", params, deadline))
    }

    fn type_text<'a>(&'a self, text: &'a str, deadline: Instant) -> Answer<'a, ()> {
        Box::pin(async move {
            if is_typeable(text) && text.len() <= MAX_TYPED {
                self.plain.type_text(text, deadline).await
            } else {
                self.enter(text, deadline).await
            }
        })
    }

    fn clear_field(&self, length: usize, deadline: Instant) -> Answer<'_, ()> {
        Box::pin(self.empty(length, deadline))
    }

    fn press<'a>(&'a self, keys: &'a [Keycode], deadline: Instant) -> Answer<'a, ()> {
        Box::pin(async move {
            match keys {
                [key] => self.act("pressKeyCode", json!([key.0]), deadline).await,
                // One command for all is faster than a call for each.
                keys => self.plain.press(keys, deadline).await,
            }
        })
    }

    fn set_clipboard<'a>(&'a self, text: &'a str, deadline: Instant) -> Answer<'a, ()> {
        Box::pin(async move {
            self.put_on_clipboard(text, deadline).await?;
            *self.clipboard.lock().await = Clipboard {
                wanted: Some(text.to_owned()),
                is_clobbered: false,
            };
            Ok(())
        })
    }

    fn paste(&self, deadline: Instant) -> Answer<'_, ()> {
        Box::pin(async move {
            let mut clipboard = self.clipboard.lock().await;
            if clipboard.is_clobbered
                && let Some(wanted) = &clipboard.wanted
            {
                self.put_on_clipboard(wanted, deadline).await?;
                clipboard.is_clobbered = false;
            }
            self.act("pasteClipboard", json!([]), deadline).await
        })
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // The process goes with its stream.
            *self.server.lock().await = Server::Down;
        })
    }
}

fn stroke(from: Point, to: Point, time: Duration) -> Value {
    let ((x1, y1), (x2, y2)) = (pixels(from), pixels(to));
    let steps = (time.as_millis() / SWIPE_STEP_TIME.as_millis()).clamp(2, 12_000);
    json!([x1, y1, x2, y2, u64::try_from(steps).unwrap_or(2)])
}

/// A point in whole pixels.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a place on a screen; beyond, the largest number is as good"
)]
fn pixels(at: Point) -> (i64, i64) {
    (at.x.round() as i64, at.y.round() as i64)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
