//! A WebDriverAgent and the session this driver has with it: requests go out, and what can be
//! mended on the way is mended here.
//!
//! | what happens | what is done |
//! |---|---|
//! | nothing answers | started again if it is known how, once a command; else the device is lost |
//! | the connection ends before the answer | asked again if that does no harm; otherwise its effect is unknown, which is a timeout |
//! | the session is gone | a new one, and again: WebDriverAgent refused before it did anything |
//! | the session's app is gone | reported as a crash, a session without app, and again |

mod request;
mod session;

use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{CommandContext, DeviceEvent, DriverError, EventSink};
use serde_json::Value;
use tokio::time::Instant;

pub(crate) use self::request::{Reply, WdaRequest};
use self::request::{Retry, Scope};
pub(crate) use self::session::{AppData, Launch};
use crate::answer::{self, Refusal, WdaRefusal};
use crate::http::{Http, HttpAnswer, HttpRequest, WireError};
use crate::start::{START_TIMEOUT, STATUS_TIMEOUT, StartError, Starter};

/// How often a harmless request is repeated on a new connection.
const REPEATS: u32 = 2;
/// How many sessions one command may lose before another client is to blame.
const SESSIONS: u32 = 3;
/// The same on a simulator, where each process that launches an app makes one: more than there is time for.
const SHARED_SESSIONS: u32 = 50;
/// How long a simulator may take to boot, and its WebDriverAgent to be started in one way or another.
const SIMULATOR_TIMEOUT: Duration = Duration::from_secs(600);
/// How often it is asked meanwhile.
const START_POLL: Duration = Duration::from_millis(200);

/// Why there is no value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// WebDriverAgent refused, and is fit for the next request.
    Refused(WdaRefusal),
    /// Whatever else, in the words of the contract.
    Driver(DriverError),
}

impl From<DriverError> for Failure {
    fn from(error: DriverError) -> Self {
        Self::Driver(error)
    }
}

impl Failure {
    /// The failure as that of a step: what was refused did not come true.
    pub(crate) fn into_error(self, doing: &str) -> DriverError {
        match self {
            Self::Driver(error) => error,
            Self::Refused(refusal) => DriverError::unmet(format!("{doing}: {refusal}")),
        }
    }

    /// Whether it was refused for that reason.
    pub(crate) fn is(&self, kind: Refusal) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.kind == kind)
    }
}

/// A WebDriverAgent and the session with it.
pub(crate) struct Agent {
    http: Http,
    starter: Option<Arc<Starter>>,
    /// Whether other processes may use it at the same time.
    is_shared: bool,
    events: EventSink,
    session: Option<String>,
    /// The app the session is bound to: its crash is noticed, and so are alerts over it.
    app: Option<String>,
    /// What apps are launched with.
    arguments: Vec<String>,
}

impl Agent {
    pub(crate) fn new(http: Http, starter: Option<Arc<Starter>>, events: EventSink) -> Self {
        Self {
            http,
            is_shared: starter.as_deref().is_some_and(Starter::is_shared),
            starter,
            events,
            session: None,
            app: None,
            arguments: Vec::new(),
        }
    }

    pub(crate) const fn events(&self) -> &EventSink {
        &self.events
    }

    /// Has every app launched with these from now on.
    pub(crate) fn launch_with(&mut self, arguments: Vec<String>) {
        self.arguments = arguments;
    }

    /// A WebDriverAgent that is not there is not started any more.
    pub(crate) fn start_no_more(&mut self) {
        self.starter = None;
    }

    /// What WebDriverAgent says of itself and the device. Starts it when it does not answer and
    /// it is known how.
    pub(crate) async fn status(&mut self, ctx: &CommandContext) -> Result<Value, DriverError> {
        let request = WdaRequest::get("get WebDriverAgent's status", "/status")
            .at_top()
            .within(STATUS_TIMEOUT);
        let doing = request.doing;
        let reply = self.round(&request, ctx).await;
        reply
            .and_then(|reply| Ok(reply.parse(doing)?))
            .map_err(|failure| failure.into_error(doing))
    }

    /// Asks and mends until there is a value or a reason why not.
    pub(crate) async fn ask(
        &mut self,
        request: &WdaRequest,
        ctx: &CommandContext,
    ) -> Result<Reply, Failure> {
        if request.scope == Scope::Top {
            return self.round(request, ctx).await;
        }
        let mut is_left = false;
        let (most, hint) = match self.is_shared {
            true => (
                SHARED_SESSIONS,
                "other commands keep launching apps on this simulator; run them on another one",
            ),
            false => (
                SESSIONS,
                "another client uses this WebDriverAgent, such as Appium or an inspector; it serves \
                 one at a time",
            ),
        };
        for _ in 0..most {
            match self.session {
                None if is_left => self.new_session(ctx).await?,
                None => self.open_session(ctx).await?,
                Some(_) => {}
            }
            let failure = match self.round(request, ctx).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let Failure::Refused(refusal) = &failure else {
                return Err(failure);
            };
            match refusal.kind {
                Refusal::NoSession if self.is_shared => self
                    .mended("another process began a session on this simulator; both now share it"),
                Refusal::NoSession => self.mended(
                    "the session with WebDriverAgent was gone, because another client created \
                     one or it was restarted; a new one was created",
                ),
                // What another process has left in a session is not a crash of this one's app.
                Refusal::AppGone if self.app.is_none() => is_left = true,
                Refusal::AppGone => {
                    is_left = true;
                    self.events.report(DeviceEvent::Crashed {
                        what: refusal.message.clone(),
                    });
                }
                Refusal::NoAlert
                | Refusal::StaleElement
                | Refusal::NoElement
                | Refusal::AlertOpen
                | Refusal::NoKeyboard
                | Refusal::Unknown
                | Refusal::SessionNotCreated
                | Refusal::Other => return Err(failure),
            }
            self.session = None;
            self.app = None;
        }
        Err(Failure::Driver(DriverError::Lost {
            cause: format!(
                "{}: another client took the session {most} times",
                request.doing
            ),
            hint: Some(hint.to_owned()),
        }))
    }

    /// Asks and mends what the wire breaks.
    async fn round(
        &mut self,
        request: &WdaRequest,
        ctx: &CommandContext,
    ) -> Result<Reply, Failure> {
        let began = Instant::now();
        let mut restarted = false;
        let mut repeats = 0;
        loop {
            let error = match self.send(request, ctx.remaining_up_to(request.limit)).await {
                Ok(answer) => match read(&answer) {
                    Ok(reply) => return reply.map_err(Failure::Refused),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            tracing::debug!(doing = request.doing, %error, "WebDriverAgent");
            match error {
                WireError::Dial(_) if self.starter.is_some() && !restarted => {
                    self.restart(ctx).await?;
                    restarted = true;
                }
                WireError::Broken(_) | WireError::Garbage(_)
                    if request.retry == Retry::Safe && repeats < REPEATS =>
                {
                    repeats += 1;
                }
                WireError::Broken(why) if request.retry == Retry::Never => {
                    return Err(self.unsure(request, &why, began, ctx).await.into());
                }
                error => return Err(explained(request, error, began).into()),
            }
        }
    }

    async fn send(
        &mut self,
        request: &WdaRequest,
        limit: Duration,
    ) -> Result<HttpAnswer, WireError> {
        let path = match (request.scope, &self.session) {
            (Scope::Session, Some(session)) => format!("/session/{session}{}", request.path),
            (Scope::Session, None) | (Scope::Top, _) => request.path.clone(),
        };
        let request = HttpRequest {
            method: request.method.clone(),
            path: &path,
            body: request.body.clone(),
            limit,
            most: request.most,
        };
        self.http.ask(request).await
    }

    /// The connection ended, and the request may have been carried out: is anybody still there?
    async fn unsure(
        &mut self,
        request: &WdaRequest,
        why: &str,
        began: Instant,
        ctx: &CommandContext,
    ) -> DriverError {
        let mut log = vec![
            format!("the connection closed before the response: {why}"),
            "it may have taken effect, so it was not retried".to_owned(),
        ];
        let status = WdaRequest::get("get WebDriverAgent's status", "/status").at_top();
        match self
            .send(&status, ctx.remaining_up_to(STATUS_TIMEOUT))
            .await
        {
            Ok(_) => log.push("WebDriverAgent answers again".to_owned()),
            Err(WireError::Dial(_)) if self.starter.is_some() => match self.restart(ctx).await {
                Ok(()) => log.push("WebDriverAgent was started again".to_owned()),
                Err(error) => return error,
            },
            Err(error) => return explained(&status, error, began),
        }
        DriverError::Timeout {
            doing: request.doing.to_owned(),
            after: began.elapsed(),
            log,
        }
    }

    /// Starts WebDriverAgent and waits for its first answer.
    async fn restart(&mut self, ctx: &CommandContext) -> Result<(), DriverError> {
        let Some(starter) = self.starter.clone() else {
            return Ok(());
        };
        let again = self.session.take().is_some();
        self.app = None;
        let lost = |error: StartError| DriverError::Lost {
            hint: Some(starter.hint(&error)),
            cause: format!("start WebDriverAgent: {error}"),
        };
        let limit = ctx.remaining_up_to(SIMULATOR_TIMEOUT);
        let started = tokio::time::timeout(limit, starter.start()).await;
        let mut started = started.unwrap_or(Err(StartError::Slow)).map_err(lost)?;
        let end = Instant::now() + ctx.remaining_up_to(START_TIMEOUT);
        let status = WdaRequest::get("start WebDriverAgent", "/status").at_top();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(lost(StartError::Slow));
            }
            match self.send(&status, left.min(STATUS_TIMEOUT)).await {
                Ok(answer) if read(&answer).is_ok() => break,
                // A simulator's has answered before.
                Err(WireError::Dial(_)) if self.is_shared => {
                    return Err(lost(StartError::Failed("it answered and ended".to_owned())));
                }
                Ok(_) | Err(_) => {}
            }
            tokio::select! {
                ended = started.ended() => return Err(lost(StartError::Failed(ended))),
                () = tokio::time::sleep(START_POLL.min(left)) => {}
            }
        }
        if again {
            self.mended("WebDriverAgent had ended and was started again");
        }
        Ok(())
    }

    fn mended(&self, what: &str) {
        self.events.report(DeviceEvent::Reconnected {
            what: what.to_owned(),
        });
    }
}

fn read(answer: &HttpAnswer) -> Result<Result<Reply, WdaRefusal>, WireError> {
    match answer::open(answer) {
        Ok(Ok(Some(value))) => Ok(Ok(Reply::new(answer.body.slice_ref(value.as_bytes())))),
        Ok(Ok(None)) => Ok(Ok(Reply::nothing())),
        Ok(Err(refusal)) => Ok(Err(refusal)),
        Err(error) => Err(WireError::Garbage(error.to_string())),
    }
}

/// What the wire broke, in the words of the contract.
fn explained(request: &WdaRequest, error: WireError, began: Instant) -> DriverError {
    let lost = |hint: String| DriverError::Lost {
        cause: format!("{}: {error}", request.doing),
        hint: Some(hint),
    };
    match &error {
        WireError::Dial(dial) => lost(dial.hint()),
        WireError::Broken(_) => lost(
            "WebDriverAgent closes every connection: start it again, or restart the device"
                .to_owned(),
        ),
        WireError::Garbage(_) => {
            lost("check that WebDriverAgent and nothing else listens there".to_owned())
        }
        WireError::TooLarge(_) => DriverError::unmet(format!("{}: {error}", request.doing)),
        WireError::Slow(_) => DriverError::Timeout {
            doing: request.doing.to_owned(),
            after: began.elapsed(),
            log: vec![
                "WebDriverAgent did not answer; an app that never comes to rest, or one that \
                 hangs, keeps it waiting"
                    .to_owned(),
            ],
        },
    }
}
