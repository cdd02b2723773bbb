//! Alerts: reported once, answered on request, and agreed to when they ask for a permission that
//! was granted.

use packtrain_drivers::{CommandContext, DeviceEvent, DriverError, Observation};
use serde_json::{Value, json};

use super::{Result, WdaDriver, done};
use crate::agent::{Failure, WdaRequest};
use crate::alert::OpenAlert;
use crate::answer::Refusal;

impl WdaDriver {
    /// The alert that is open, the system's or the app's.
    pub(super) async fn open_alert(&mut self, ctx: &CommandContext) -> Result<Option<OpenAlert>> {
        let text = WdaRequest::get("read the alert", "/alert/text");
        let buttons = WdaRequest::get("read the alert", "/wda/alert/buttons");
        let Some(text) = self.of_alert::<Option<String>>(&text, ctx).await? else {
            return Ok(None);
        };
        let Some(buttons) = self.of_alert::<Option<Vec<String>>>(&buttons, ctx).await? else {
            return Ok(None);
        };
        Ok(Some(OpenAlert {
            text: text.unwrap_or_default(),
            buttons: buttons.unwrap_or_default(),
        }))
    }

    /// A fact of the open alert; `None` when there is no alert.
    async fn of_alert<T: serde::de::DeserializeOwned>(
        &mut self,
        request: &WdaRequest,
        ctx: &CommandContext,
    ) -> Result<Option<T>> {
        // Past the check for alerts, which would ask this in turn.
        match self.agent.ask(request, ctx).await {
            Ok(reply) => reply.parse(request.doing()).map(Some),
            Err(failure) if failure.is(Refusal::NoAlert) => Ok(None),
            Err(failure) => Err(failure.into_error(request.doing())),
        }
    }

    /// An alert was met: agrees to it when it asks for what was granted, and reports it if it is
    /// new. `true` when it was answered.
    pub(super) async fn handle_alert(
        &mut self,
        alert: &OpenAlert,
        ctx: &CommandContext,
    ) -> Result<bool> {
        let agreed = self.is_granted(alert) && self.agree(alert, ctx).await?;
        if agreed || self.state.alert.as_ref() != Some(alert) {
            self.agent.events().report(DeviceEvent::DialogOpened {
                dialog: alert.kind().to_owned(),
                message: alert.text.clone(),
                answer: if agreed { "accepted" } else { "left open" }.to_owned(),
            });
        }
        self.state.alert = (!agreed).then(|| alert.clone());
        Ok(agreed)
    }

    fn is_granted(&self, alert: &OpenAlert) -> bool {
        // The alert is about the app in front, which is the one the session is bound to.
        let front = self.agent.bound_to();
        let mut grants = self.state.grants.iter();
        grants.any(|(id, permission)| {
            front.is_none_or(|front| front == id) && permission.is_asked_by(alert)
        })
    }

    async fn agree(&mut self, alert: &OpenAlert, ctx: &CommandContext) -> Result<bool> {
        let body = alert.agreeing().map(|button| json!({"name": button}));
        let body = body.unwrap_or_else(|| json!({}));
        let request = WdaRequest::post("accept the alert", "/alert/accept", &body);
        match self.agent.ask(&request, ctx).await {
            Ok(_) => Ok(true),
            // It stays open then, for the trail to see.
            Err(Failure::Refused(_)) => Ok(false),
            Err(Failure::Driver(error)) => Err(error),
        }
    }

    pub(super) async fn read_alert(&mut self, ctx: &CommandContext) -> Result<Observation> {
        let alert = self.open_alert(ctx).await?;
        Ok(Observation::Json(alert.map_or(
            Value::Null,
            |alert| json!({"text": alert.text, "buttons": alert.buttons}),
        )))
    }

    pub(super) async fn answer_alert(
        &mut self,
        accept: bool,
        button: Option<&str>,
        ctx: &CommandContext,
    ) -> Result<Observation> {
        let path = if accept {
            "/alert/accept"
        } else {
            "/alert/dismiss"
        };
        let body = button.map_or_else(|| json!({}), |button| json!({"name": button}));
        let request = WdaRequest::post("answer the alert", path, &body);
        match self.agent.ask(&request, ctx).await {
            Ok(_) => {
                self.state.alert = None;
                done()
            }
            Err(failure) if failure.is(Refusal::NoAlert) => {
                Err(DriverError::unmet("answer the alert: no alert is open"))
            }
            Err(Failure::Refused(refusal)) => {
                let what = format!("answer the alert: {refusal}");
                let alert = self.open_alert(ctx).await?;
                let log = alert.map(|alert| format!("the alert {}", alert.summary()));
                let log = log.into_iter().collect();
                Err(DriverError::Unmet { what, log })
            }
            Err(Failure::Driver(error)) => Err(error),
        }
    }
}
