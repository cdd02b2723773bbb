//! What a session holds on a phone, and what is undone at its end.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{EventSink, Reach, SessionOptions};
use tokio::time::Instant;

use crate::agent::Keycode;
use crate::device::{AndroidDevice, Result};
use crate::logcat::LogCapture;

/// How long undoing may take.
pub(crate) const UNDO_TIMEOUT: Duration = Duration::from_secs(10);

/// A session on a phone.
pub(crate) struct Session {
    pub(crate) base_url: Option<String>,
    pub(crate) reach: Option<Reach>,
    log: Option<LogCapture>,
    pub(crate) restore: Restore,
}

/// What the session changed that the next one must not find.
#[derive(Debug, Default)]
pub(crate) struct Restore {
    /// The network was disconnected.
    pub(crate) network: bool,
    /// The status bar shows a demo.
    pub(crate) demo_mode: bool,
    /// `accelerometer_rotation` and `user_rotation` before the screen was turned.
    pub(crate) rotation: Option<[String; 2]>,
}

impl Session {
    /// Brings the phone to its home screen, awake, and starts to keep its log; answers what a
    /// reader should know.
    pub(crate) async fn begin(
        device: &mut AndroidDevice,
        options: SessionOptions,
        events: &EventSink,
        deadline: Instant,
    ) -> Result<(Self, Vec<String>)> {
        let log = options.device_log.map(|path: PathBuf| {
            LogCapture::start(Arc::clone(&device.phone), path, events.clone())
        });
        let note = device.start_agent(deadline).await?;
        // Not each of them is known to every system; what counts is looked at afterwards.
        let command = format!(
            "(input keyevent {}; wm dismiss-keyguard; cmd statusbar collapse; \
             input keyevent {}) >/dev/null 2>&1; settings get secure default_input_method",
            Keycode::WAKEUP,
            Keycode::HOME
        );
        let output = device.shell(&command, deadline).await?;
        device.keyboard = package_of_keyboard(&output.out());
        let mut notes: Vec<String> = note.into_iter().collect();
        if device.is_locked(deadline).await? {
            notes.push("the screen is locked; remove the lock in the device's settings".to_owned());
        }
        if let Some(log) = &log {
            log.begun().await;
        }
        let session = Self {
            base_url: options.base_url,
            reach: options.reach,
            log,
            restore: Restore::default(),
        };
        Ok((session, notes))
    }

    /// Undoes what the session did to the phone and closes its log; answers what could not be
    /// undone. Given up in the middle, it can be called again.
    pub(crate) async fn end(&mut self, device: &AndroidDevice) -> Vec<String> {
        let deadline = Instant::now() + UNDO_TIMEOUT;
        let left = self.restore.undo(device, deadline).await;
        if let Some(log) = self.log.take() {
            log.stop().await;
        }
        left
    }
}

impl Restore {
    /// Undoes each change, whatever became of the others.
    async fn undo(&mut self, device: &AndroidDevice, deadline: Instant) -> Vec<String> {
        let mut left = Vec::new();
        let mut note = |what: &str, undone: Result<()>| {
            if let Err(error) = &undone {
                tracing::warn!(%error, what, "what a session changed could not be undone");
                left.push(format!("{what}: {error}"));
            }
            undone.is_ok()
        };
        if self.network {
            let undone = device.network(true, &mut Self::default(), deadline).await;
            self.network = !note("the network is still disconnected", undone);
        }
        if self.demo_mode {
            let undone = device.demo_mode(false, deadline).await;
            self.demo_mode = !note("the status bar is still in demo mode", undone);
        }
        if let Some(before) = &self.rotation {
            let undone = device.put_rotation(before, deadline).await;
            if note("the screen is still rotated", undone) {
                self.rotation = None;
            }
        }
        left
    }
}

impl AndroidDevice {
    /// Whether a lock with a secret covers the screen.
    async fn is_locked(&self, deadline: Instant) -> Result<bool> {
        let command = "dumpsys window policy | grep -E 'mIsShowing=|showing=|mShowingLockscreen='";
        let output = self.shell(command, deadline).await?;
        let out = output.out();
        Ok(["mIsShowing=true", "mShowingLockscreen=true"]
            .iter()
            .any(|sign| out.contains(sign)))
    }
}

/// The package in `com.google.android.inputmethod.latin/com.android...LatinIME`.
fn package_of_keyboard(text: &str) -> Option<String> {
    let (package, _) = text.trim().lines().last()?.split_once('/')?;
    Some(package.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keyboards_package_is_read_from_the_setting() {
        let package = package_of_keyboard("com.a.keys/com.b.Ime\n");
        assert_eq!(package.as_deref(), Some("com.a.keys"));
        assert_eq!(package_of_keyboard("null\n"), None);
        assert_eq!(package_of_keyboard(""), None);
    }
}
