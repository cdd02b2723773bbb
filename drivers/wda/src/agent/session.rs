//! Sessions: made without waiting for anything to come to rest, and bound to the app in front.

use std::time::Duration;

use packtrain_drivers::{CommandContext, DriverError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::request::WdaRequest;
use super::{Agent, Failure};
use crate::answer;
use crate::start::STATUS_TIMEOUT;

/// How long an app may take to start.
const LAUNCH_TIMEOUT: Duration = Duration::from_secs(120);
/// How deep WebDriverAgent looks into an app. XCTest itself fails somewhere beyond; JSON nests
/// two levels for each, and serde_json reads 127.
const DEPTH: u32 = 60;
/// Asks for an app as it is after its installation. WebDriverAgent disregards the capability,
/// because iOS does not allow clearing an app's data; virtual phones can, and say so in their answer.
const CLEAR_APP_DATA: &str = "packtrain:clearAppData";

/// What becomes of an app's process when a session is bound to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Launch {
    /// It is ended if it runs, and started.
    Afresh,
    /// As that, and its data is cleared where the device can do so.
    Cleared,
    /// It is brought to the front, and started only if it does not run.
    AsItIs,
}

/// What became of an app's data when it was launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AppData {
    /// It is as it was.
    Kept,
    /// It is gone, with the permissions that the app had or was refused.
    Cleared,
}

impl Agent {
    /// The app the session is bound to.
    pub(crate) fn bound_to(&self) -> Option<&str> {
        self.app.as_deref()
    }

    /// Begins to use a session that is bound to no app here: the one that there is where processes share
    /// WebDriverAgent, which has one, so that each new one would take away the others'.
    pub(crate) async fn open_session(&mut self, ctx: &CommandContext) -> Result<(), DriverError> {
        let status = WdaRequest::get("ask for the session", "/status").at_top();
        let limit = ctx.remaining_up_to(STATUS_TIMEOUT);
        if self.is_shared
            && let Ok(answer) = self.send(&status, limit).await
            && let Some(session) = answer::session(&answer).filter(|id| is_name(id))
        {
            self.session = Some(session);
            self.app = None;
            return Ok(());
        }
        self.new_session(ctx).await
    }

    /// Makes a session that is bound to no app; the one before ends.
    pub(super) async fn new_session(&mut self, ctx: &CommandContext) -> Result<(), DriverError> {
        let made = self.make(json!({}), None, ctx).await;
        made.map(drop).map_err(|failure| match failure {
            // Nothing else can be done on a device that makes no sessions.
            Failure::Refused(refusal) => DriverError::Lost {
                cause: format!("begin a session with WebDriverAgent: {refusal}"),
                hint: Some("start WebDriverAgent again".to_owned()),
            },
            Failure::Driver(error) => error,
        })
    }

    /// Makes a session that is bound to an app, and brings that to the front.
    pub(crate) async fn bind(
        &mut self,
        app: &str,
        launch: Launch,
        ctx: &CommandContext,
    ) -> Result<AppData, Failure> {
        let mut capabilities = json!({
            "bundleId": app,
            "forceAppLaunch": launch != Launch::AsItIs,
        });
        if !self.arguments.is_empty() {
            capabilities["arguments"] = json!(self.arguments);
        }
        if launch == Launch::Cleared {
            capabilities[CLEAR_APP_DATA] = true.into();
        }
        self.make(capabilities, Some(app), ctx).await
    }

    /// Ends the session, unless other processes may use it; the app stays as it is.
    pub(crate) async fn end_session(&mut self, ctx: &CommandContext) -> Result<(), DriverError> {
        if self.session.is_none() || self.is_shared {
            (self.session, self.app) = (None, None);
            return Ok(());
        }
        let request = WdaRequest::delete("end the session", "");
        let ended = self.round(&request, ctx).await;
        self.session = None;
        self.app = None;
        match ended {
            Ok(_) => Ok(()),
            // It is gone already, or WebDriverAgent has its reasons; a new one replaces it.
            Err(Failure::Refused(refusal)) => {
                tracing::debug!(%refusal, "ending the session");
                Ok(())
            }
            Err(Failure::Driver(error)) => Err(error),
        }
    }

    async fn make(
        &mut self,
        capabilities: Value,
        app: Option<&str>,
        ctx: &CommandContext,
    ) -> Result<AppData, Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct CreatedSession {
            session_id: String,
            #[serde(default)]
            capabilities: Value,
        }
        let mut wanted = json!({
            // An app that animates for ever never comes to rest; waiting is up to the steps.
            "shouldWaitForQuiescence": false,
            "waitForIdleTimeout": 0,
            // What a test leaves behind is there to be looked at.
            "shouldTerminateApp": false,
            "shouldUseCompactResponses": true,
        });
        if let (Some(wanted), Value::Object(more)) = (wanted.as_object_mut(), capabilities) {
            wanted.extend(more);
        }
        let body = json!({"capabilities": {"alwaysMatch": wanted, "firstMatch": [{}]}});
        let doing = match app {
            Some(_) => "launch the app",
            None => "begin a session",
        };
        // A session made twice is the second one, and an app that was started twice runs.
        let request = WdaRequest::post(doing, "/session", &body)
            .at_top()
            .harmless()
            .within(LAUNCH_TIMEOUT);
        // Whatever comes of it, the one before is gone.
        self.session = None;
        self.app = None;
        let made: CreatedSession = self.round(&request, ctx).await?.parse(doing)?;
        if !is_name(&made.session_id) {
            return Err(DriverError::Lost {
                cause: format!("{doing}: the answer names no valid session"),
                hint: Some("check that WebDriverAgent and nothing else listens there".to_owned()),
            }
            .into());
        }
        self.session = Some(made.session_id);
        self.app = app.map(str::to_owned);
        self.set_up(ctx).await?;
        let cleared = made.capabilities.get(CLEAR_APP_DATA) == Some(&Value::Bool(true));
        Ok(if cleared {
            AppData::Cleared
        } else {
            AppData::Kept
        })
    }

    /// Settings that no capability can name.
    async fn set_up(&mut self, ctx: &CommandContext) -> Result<(), Failure> {
        let settings = json!({
            "waitForIdleTimeout": 0,
            "animationCoolOffTimeout": 0,
            "snapshotMaxDepth": DEPTH,
            "shouldUseCompactResponses": true,
            // A permission dialog over the app is what a person sees, so it is the screen.
            "respectSystemAlerts": true,
        });
        let body = json!({"settings": settings});
        let request =
            WdaRequest::post("set WebDriverAgent up", "/appium/settings", &body).harmless();
        match self.round(&request, ctx).await {
            // Versions differ in their settings, and all of them work with their own. A session
            // that is gone already is for the next command to notice.
            Err(Failure::Refused(refusal)) => {
                tracing::debug!(%refusal, "setting WebDriverAgent up");
                Ok(())
            }
            other => other.map(|_| ()),
        }
    }
}

/// Whether it can stand in a path as it is.
fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=128).contains(&text.len()) && text.chars().all(plain)
}
