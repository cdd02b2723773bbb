//! The app in front, and the session that follows it.

use packtrain_drivers::{CommandContext, Tree};
use serde_json::Value;

use super::{Result, WdaDriver};
use crate::agent::{Failure, Launch, WdaRequest};
use crate::source;

/// The app that is the home screen, and shows the system's alerts.
const HOME: &str = "com.apple.springboard";
/// What WebDriverAgent calls an app whose id it could not find out.
const UNKNOWN: &str = "unknown";

impl WdaDriver {
    /// The id of the app a tree is of. It is asked for only when the app calls itself something
    /// else than in the tree before.
    pub(super) async fn front(
        &mut self,
        tree: &Tree,
        ctx: &CommandContext,
    ) -> Result<Option<String>> {
        let label = source::root(tree).0.unwrap_or_default();
        if let Some((known, id)) = &self.state.front
            && known == label
            && !label.is_empty()
        {
            return Ok(Some(id.clone()));
        }
        let id = self.active_app(ctx).await?;
        self.state.front = id.clone().map(|id| (label.to_owned(), id));
        Ok(id)
    }

    /// The id of the app in front.
    pub(super) async fn active_app(&mut self, ctx: &CommandContext) -> Result<Option<String>> {
        let request = WdaRequest::get("find out which app is in front", "/wda/activeAppInfo");
        match self.ask(&request, ctx).await {
            Ok(reply) => {
                let active: Value = reply.parse(request.doing())?;
                let id = active.get("bundleId").and_then(Value::as_str);
                let known = id.filter(|id| *id != UNKNOWN && !id.is_empty());
                Ok(known.map(str::to_owned))
            }
            Err(Failure::Refused(_)) => Ok(None),
            Err(Failure::Driver(error)) => Err(error),
        }
    }

    /// Binds the session to the app that came to the front, so that its crash and the system's
    /// alerts over it are noticed. `true` when it did, and the screen is to be read again.
    pub(super) async fn follow(
        &mut self,
        front: Option<&str>,
        ctx: &CommandContext,
    ) -> Result<bool> {
        let Some(front) = front else {
            return Ok(false);
        };
        let is = |known: Option<&str>| known == Some(front);
        if front == HOME || is(self.agent.bound_to()) || is(self.state.unbindable.as_deref()) {
            return Ok(false);
        }
        match self.agent.bind(front, Launch::AsItIs, ctx).await {
            Ok(_) => Ok(true),
            Err(Failure::Refused(refusal)) => {
                tracing::debug!(app = front, %refusal, "no session of its own for an app");
                self.state.unbindable = Some(front.to_owned());
                self.agent.open_session(ctx).await?;
                Ok(false)
            }
            Err(Failure::Driver(error)) => Err(error),
        }
    }

    /// Another app may be in front now.
    pub(super) fn front_changes(&mut self) {
        self.state.front = None;
        self.state.screen = None;
    }
}
