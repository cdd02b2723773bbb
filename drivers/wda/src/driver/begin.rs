//! How a session begins and ends.
//!
//! State left by the one before must not show, so a session begins on the home screen of a phone
//! that is unlocked, upright and without an alert. What iOS does not allow resetting stays: apps keep
//! running behind the home screen, with their data, until they are launched afresh. At the end the
//! device is turned upright again; its apps are left as they are, for people to look at.

use packtrain_drivers::{CommandContext, DeviceEvent, Observation, SessionOptions};
use serde_json::json;

use super::{Restoring, Result, State, WdaDriver, done};
use crate::agent::{Failure, WdaRequest};

/// How many alerts one on top of another are refused.
const MAX_ALERTS: usize = 5;

impl WdaDriver {
    pub(super) async fn begin(
        &mut self,
        options: &SessionOptions,
        ctx: &CommandContext,
    ) -> Result<Observation> {
        // The earlier session is gone.
        self.put_axes_back(ctx).await?;
        self.state = State::default();
        self.state.reach.clone_from(&options.reach);
        self.set_launch_arguments(options);
        let mut applied = self.apply_axes(options, ctx).await?;
        self.agent.open_session(ctx).await?;
        self.unlock(ctx).await?;
        applied.extend(self.apply_locale(options, ctx).await?);
        self.refuse_alerts(ctx).await?;
        self.turn_upright(ctx).await?;
        self.go_home(ctx).await?;
        applied.extend(self.apply_orientation(options, ctx).await?);
        if options.axes.is_empty() {
            return done();
        }
        Ok(Observation::Begun(applied))
    }

    /// Undoes what the session did to the device and lets go of it, whatever its commands came to.
    pub(super) async fn end(&mut self, ctx: &CommandContext) -> Result<Observation> {
        let restored = self.restore(ctx).await;
        // What stays changed outweighs how the device is held.
        let axes = self.put_axes_back(ctx).await;
        self.state = State::default();
        self.agent.launch_with(Vec::new());
        let ended = self.agent.end_session(ctx).await;
        axes?;
        ended?;
        restored?;
        done()
    }

    async fn put_axes_back(&mut self, ctx: &CommandContext) -> Result<()> {
        let events = self.agent.events().clone();
        let device = Restoring::new(&mut self.agent, &self.access, ctx);
        self.axes.put_back(&events, device).await
    }

    /// Turns the device upright, as the session found it, if it was turned.
    pub(super) async fn restore(&mut self, ctx: &CommandContext) -> Result<()> {
        if !self.state.turned {
            return Ok(());
        }
        let upright = turn("PORTRAIT");
        let mut answer = self.agent.ask(&upright, ctx).await;
        if matches!(answer, Err(Failure::Refused(_))) {
            // An app that knows one way only to be held is in the way.
            self.go_home(ctx).await?;
            answer = self.agent.ask(&upright, ctx).await;
        }
        match answer {
            // A device that cannot be turned was not turned.
            Ok(_) | Err(Failure::Refused(_)) => {
                self.state.turned = false;
                Ok(())
            }
            Err(Failure::Driver(error)) => Err(error),
        }
    }

    async fn go_home(&mut self, ctx: &CommandContext) -> Result<()> {
        let home = WdaRequest::post("go to the home screen", "/wda/homescreen", &json!({}));
        self.have(&home.at_top().harmless(), ctx).await.map(drop)
    }

    async fn unlock(&mut self, ctx: &CommandContext) -> Result<()> {
        let locked = WdaRequest::get("check whether the device is locked", "/wda/locked");
        let reply = self.have(&locked, ctx).await?;
        if reply.json().trim() == "true" {
            let unlock =
                WdaRequest::post("unlock the device", "/wda/unlock", &json!({})).harmless();
            self.have(&unlock, ctx).await?;
        }
        Ok(())
    }

    async fn refuse_alerts(&mut self, ctx: &CommandContext) -> Result<()> {
        for _ in 0..MAX_ALERTS {
            let Some(alert) = self.open_alert(ctx).await? else {
                return Ok(());
            };
            let dismiss = WdaRequest::post("refuse an alert", "/alert/dismiss", &json!({}));
            let refused = self.agent.ask(&dismiss, ctx).await;
            let answer = match refused {
                Ok(_) => "dismissed",
                // It closed by itself, or it has no button; what is in the way will be seen.
                Err(Failure::Refused(_)) => "left open",
                Err(Failure::Driver(error)) => return Err(error),
            };
            self.agent.events().report(DeviceEvent::DialogOpened {
                dialog: alert.kind().to_owned(),
                message: alert.text,
                answer: answer.to_owned(),
            });
        }
        Ok(())
    }

    /// Devices that cannot be turned are as they are.
    async fn turn_upright(&mut self, ctx: &CommandContext) -> Result<()> {
        let held = WdaRequest::get("read the device's orientation", "/orientation");
        let lies = match self.agent.ask(&held, ctx).await {
            Ok(reply) => reply.json().contains("LANDSCAPE"),
            Err(Failure::Refused(_)) => false,
            Err(Failure::Driver(error)) => return Err(error),
        };
        if !lies {
            return Ok(());
        }
        self.state.turned = true;
        self.restore(ctx).await
    }
}

/// Has the device turned: `PORTRAIT` or `LANDSCAPE`.
pub(super) fn turn(orientation: &str) -> WdaRequest {
    let body = json!({"orientation": orientation});
    WdaRequest::post("rotate the device", "/orientation", &body).harmless()
}
