//! What a command does: one method per command, in one file per family. What they look at is in
//! `looking`.

mod actions;
mod alerts;
mod apps;
mod device;
mod elements;
mod gestures;
mod looking;
mod screen;
mod sessions;
mod typing;

use std::time::Duration;

use serde_json::Value;

pub(crate) use self::sessions::uuid;
use super::error::{ErrorKind, WdaError};
use super::request::Arguments;
use super::route::{Found, recorded};
use super::session::Session;
use super::{State, Wda, source};
use crate::device::Device;
use crate::faults::Fault;
use crate::world::{Display, World};

/// The longest a command may make a client wait by its own arguments.
const MAX_WAIT_TIME: Duration = Duration::from_secs(600);

/// The end of a command that answers nothing.
type Done = Result<(), WdaError>;

/// One command, with everything it works on.
pub(crate) struct Handler<'a> {
    pub(super) wda: &'a Wda,
    pub(super) state: &'a mut State,
    pub(super) found: Found,
    pub(super) arguments: Arguments,
    /// What went wrong when the tree was fetched last.
    pub(super) tree_faults: Vec<Fault>,
}

impl Handler<'_> {
    /// Does it.
    ///
    /// # Errors
    /// As the command fails.
    pub(crate) async fn run(&mut self) -> Result<Value, WdaError> {
        self.check_session()?;
        self.watch_alerts().await;
        match self.found.command {
            "actions" => self.actions().await?,
            "alert_accept" | "alert_dismiss" => self.answer_or_press().await?,
            "appearance" => self.appearance()?,
            "app_activate" => self.launch(&self.bundle_id()?).await?,
            "app_launch" => self.app_launch().await?,
            "clear" => self.clear().await?,
            "clear_simulated_location" => self.state.location = None,
            "click" => self.click().await?,
            "deactivate_app" => self.deactivate_app().await?,
            "delete_session" => self.end_session(),
            "dismiss_keyboard" => self.dismiss_keyboard().await?,
            "double_tap" => self.tap(2).await?,
            "drag" | "press_and_drag" => self.drag().await?,
            "expect_notification" => self.expect_notification().await?,
            "homescreen" => self.homescreen().await,
            "io_hid_event" => self.io_hid_event(),
            "keys" => self.keys().await?,
            "lock" => self.light(Display::Off).await,
            "open_url" => self.open_url().await?,
            "pinch" => self.pinch().await?,
            "press_button" => self.press_button().await?,
            "reset_app_auth" => self.reset_app_auth()?,
            "rotate" | "two_finger_tap" => self.many_fingers().await?,
            "scroll" => self.scroll().await?,
            "scroll_to" => self.scroll_to().await?,
            "set_orientation" => self.set_orientation()?,
            "set_pasteboard" => self.set_pasteboard()?,
            "set_rotation" => self.set_rotation()?,
            "set_simulated_location" => self.set_simulated_location()?,
            "set_value" => self.set_value().await?,
            "shutdown" => self.wda.stop_after_answer(),
            "swipe" => self.swipe().await?,
            "tap" => self.tap(1).await?,
            "tap_with_number_of_taps" => self.tap_with_number_of_taps().await?,
            "touch_and_hold" => self.touch_and_hold().await?,
            "unlock" => self.light(Display::On).await,
            command => return self.tell(command).await,
        }
        Ok(Value::Null)
    }

    /// Commands that are there for their answer.
    async fn tell(&mut self, command: &str) -> Result<Value, WdaError> {
        Ok(match command {
            "accessible_source" => source::accessible(&self.tree().await?),
            "active_app_info" => self.active_app_info()?,
            "active_element" => self.active_element().await?,
            "alert_buttons" => self.alert_buttons()?,
            "alert_text" => self.alert_text()?,
            "apps_list" => self.apps_list(),
            "app_state" => self.app_state()?,
            "app_terminate" => self.app_terminate()?,
            "battery_info" => self.battery_info(),
            "create_session" => self.create_session().await?,
            "device_info" => self.device_info()?,
            "device_orientation" => self.device_orientation(),
            "element_screenshot" => self.element_screenshot().await?,
            "element_text" => self.element_text().await?,
            "find_element" => self.find_element().await?,
            "find_elements" => self.find_elements().await?,
            "get_pasteboard" => self.get_pasteboard()?,
            "get_simulated_location" => self.get_simulated_location(),
            "locked" => self.world(|world| world.display() == Display::Off).into(),
            "named_attribute" => {
                let name = self.found.name.take().unwrap_or_default();
                self.attribute(&name).await?
            }
            "orientation" => self.orientation(),
            "rotation" => self.rotation(),
            "screen" => self.screen(),
            "screenshot" => self.screenshot().await?,
            "session" => self.session_information(),
            "set_settings" => self.set_settings()?,
            "settings" => self.state.settings.all(),
            "source" => self.source().await?,
            "status" => self.status()?,
            "window_rect" => self.window_rect()?,
            "window_size" => self.window_size()?,
            _ => match command.strip_prefix("attribute:") {
                Some(name) => self.attribute(name).await?,
                None => recorded(command)?,
            },
        })
    }

    fn check_session(&self) -> Done {
        let session = self.state.session.as_ref();
        match &self.found.session {
            Some(asked) if session.is_none_or(|session| session.id.0 != *asked) => Err(
                WdaError::new(ErrorKind::INVALID_SESSION_ID, "Session does not exist"),
            ),
            _ => Ok(()),
        }
    }

    fn device(&self) -> &Device {
        &self.wda.device
    }

    fn world<R>(&self, act: impl FnOnce(&mut World) -> R) -> R {
        self.device().world(act)
    }

    /// The session that was asked for; `None` for a command without one.
    fn session(&mut self) -> Option<&mut Session> {
        self.found.session.as_ref()?;
        self.state.session.as_mut()
    }

    /// Lets the time pass that an action takes beside its gesture.
    async fn act(&self) {
        self.come_to_rest("waitForIdleTimeout").await;
        self.device().takes(self.device().latency().action).await;
    }

    /// Lets the time of a gesture pass; a fast phone's fingers take none.
    async fn spend(&self, time: Duration) {
        if !self.wda.hurries() {
            self.device().sleep(time.min(MAX_WAIT_TIME)).await;
        }
    }
}
