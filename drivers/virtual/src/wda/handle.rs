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
mod scrolling;
mod sessions;
mod typing;

use std::time::Duration;

use serde_json::Value;

pub(crate) use self::sessions::uuid;
use super::attribute::Attribute;
use super::error::{ErrorKind, WdaError};
use super::request::Arguments;
use super::route::{Found, Route};
use super::session::Session;
use super::{Inner, State};
use crate::device::Device;
use crate::faults::Fault;
use crate::world::World;

/// The longest a command may make a client wait by its own arguments.
const MAX_WAIT_TIME: Duration = Duration::from_secs(600);

/// A command's answer.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The `value` of the envelope.
    Value(Value),
    /// A page without an envelope.
    Page(&'static str),
}

/// One command, with everything it works on.
pub(crate) struct Handler<'a> {
    pub(crate) inner: &'a Inner,
    pub(crate) state: &'a mut State,
    pub(crate) found: Found,
    pub(crate) arguments: Arguments,
    /// What went wrong when the tree was fetched last.
    pub(crate) tree_faults: Vec<Fault>,
}

impl Handler<'_> {
    /// Does it.
    ///
    /// # Errors
    /// As the command fails.
    pub(crate) async fn run(mut self) -> Result<Answer, WdaError> {
        self.check_session()?;
        self.watch_alerts().await;
        let value = match self.found.route {
            Route::Calibrate => return Ok(Answer::Page(device::CALIBRATION)),
            Route::Health => return Ok(Answer::Page(device::HEALTH)),
            Route::Shutdown => return Ok(Answer::Page(self.shutdown())),
            Route::Ping | Route::Timeouts => Value::Null,
            Route::AccessibilityAudit => self.accessibility_audit()?,
            Route::AccessibleSource => self.accessible_source().await?,
            Route::Actions => self.actions().await?,
            Route::ActiveAppInfo => self.active_app_info()?,
            Route::ActiveElement => self.active_element().await?,
            Route::AlertAccept => self.alert_accept().await?,
            Route::AlertButtons => self.alert_buttons()?,
            Route::AlertDismiss => self.alert_dismiss().await?,
            Route::AlertSetText => self.alert_set_text()?,
            Route::AlertText => self.alert_text()?,
            Route::Appearance => self.appearance()?,
            Route::AppActivate => self.app_activate().await?,
            Route::AppLaunch => self.app_launch().await?,
            Route::AppLaunchUnattached => self.app_launch_unattached().await?,
            Route::AppsList => self.apps_list(),
            Route::AppState => self.app_state()?,
            Route::AppTerminate => self.app_terminate()?,
            Route::BatteryInfo => self.battery_info(),
            Route::ClearSimulatedLocation => self.clear_simulated_location(),
            Route::Click => self.click().await?,
            Route::Clear => self.clear().await?,
            Route::CreateSession => self.create_session().await?,
            Route::DeactivateApp => self.deactivate_app().await?,
            Route::DeleteSession => self.delete_session(),
            Route::DeviceInfo => self.device_info(),
            Route::DeviceLocation => device::location(),
            Route::DeviceOrientation => self.device_orientation(),
            Route::DismissKeyboard => self.dismiss_keyboard().await?,
            Route::DoubleTap => self.double_tap().await?,
            Route::Drag => self.drag().await?,
            Route::ElementAccessible => self.element_attribute(Attribute::Accessible).await?,
            Route::ElementAttribute => self.named_attribute().await?,
            Route::ElementContainer => {
                self.element_attribute(Attribute::AccessibilityContainer)
                    .await?
            }
            Route::ElementDisplayed => self.element_attribute(Attribute::Visible).await?,
            Route::ElementEnabled => self.element_attribute(Attribute::Enabled).await?,
            Route::ElementName => self.element_attribute(Attribute::Type).await?,
            Route::ElementRect => self.element_attribute(Attribute::Rect).await?,
            Route::ElementScreenshot => self.element_screenshot().await?,
            Route::ElementSelected => self.element_attribute(Attribute::Selected).await?,
            Route::ElementText => self.element_text().await?,
            Route::ExpectNotification => self.expect_notification().await?,
            Route::FindElement => self.find_element().await?,
            Route::FindElements => self.find_elements().await?,
            Route::FindVisibleCells => self.find_visible_cells().await?,
            Route::ForceTouch => self.force_touch().await?,
            Route::GetOrientation => self.get_orientation(),
            Route::GetPasteboard => self.get_pasteboard()?,
            Route::GetRotation => self.get_rotation(),
            Route::GetSession => self.session_information(),
            Route::GetSettings => self.state.settings.all(),
            Route::GetSimulatedLocation => self.get_simulated_location(),
            Route::HealthCheck => Value::Null,
            Route::Homescreen => self.homescreen().await,
            Route::IoHidEvent => self.io_hid_event()?,
            Route::KeyboardInput => self.keyboard_input().await?,
            Route::Keys => self.keys().await?,
            Route::Lock => self.lock().await,
            Route::Locked => self.locked(),
            Route::OpenUrl => self.open_url().await?,
            Route::Pinch => self.pinch().await?,
            Route::PressAndDrag => self.press_and_drag().await?,
            Route::PressButton => self.press_button().await?,
            Route::ResetAppAuth => self.reset_app_auth()?,
            Route::Rotate => self.rotate().await?,
            Route::Screen => self.screen(),
            Route::Screenshot => self.screenshot().await?,
            Route::Scroll => self.scroll().await?,
            Route::ScrollTo => self.scroll_to().await?,
            Route::SetOrientation => self.set_orientation()?,
            Route::SetPasteboard => self.set_pasteboard()?,
            Route::SetRotation => self.set_rotation()?,
            Route::SetSettings => self.set_settings()?,
            Route::SetSimulatedLocation => self.set_simulated_location()?,
            Route::SetValue => self.set_value().await?,
            Route::Siri => return Err(device::no_siri()),
            Route::Source => self.source().await?,
            Route::Status => self.status(),
            Route::Swipe => self.swipe().await?,
            Route::Tap => self.tap().await?,
            Route::TapWithNumberOfTaps => self.tap_with_number_of_taps().await?,
            Route::TouchAndHold => self.touch_and_hold().await?,
            Route::TwoFingerTap => self.two_finger_tap().await?,
            Route::Unlock => self.unlock().await,
            Route::WheelSelect => self.wheel_select().await?,
            Route::WindowRect => self.window_rect()?,
            Route::WindowSize => self.window_size()?,
            // Says only that a notification was posted, which a phone's scanner does not hear.
            Route::TouchId => Value::Null,
            Route::VideoStart => return Err(device::no_recording()),
            // No recording runs.
            Route::VideoState | Route::VideoStop => Value::Null,
            Route::VoiceOver => return Err(device::no_voice_over()),
            Route::VoiceOverMove => self.voice_over_move()?,
        };
        Ok(Answer::Value(value))
    }

    fn check_session(&self) -> Result<(), WdaError> {
        let Some(asked) = &self.found.session else {
            return Ok(());
        };
        match &self.state.session {
            Some(session) if session.id.0 == *asked => Ok(()),
            Some(_) | None => Err(WdaError::new(
                ErrorKind::InvalidSessionId,
                "Session does not exist",
            )),
        }
    }

    fn device(&self) -> &Device {
        &self.inner.device
    }

    fn world<R>(&self, act: impl FnOnce(&mut World, Duration) -> R) -> R {
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
        if !self.inner.hurries() {
            self.device().sleep(time.min(MAX_WAIT_TIME)).await;
        }
    }
}
