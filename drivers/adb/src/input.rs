//! Touches, text, keys and the clipboard.

use std::time::{Duration, Instant};

use packtrain_drivers::{DriverError, InputCommand, NodeDetail, Point};

use crate::agent::Keycode;
use crate::device::{AndroidDevice, Result, unmet};

/// How long the keyboard may take to go.
const KEYBOARD_TIMEOUT: Duration = Duration::from_secs(3);
/// How often it is asked for.
const KEYBOARD_POLL: Duration = Duration::from_millis(100);
/// The longest a finger stays on the glass.
const GESTURE_TIMEOUT: Duration = Duration::from_secs(60);
/// The most characters erased at once.
const MAX_ERASED: u32 = 10_000;

impl AndroidDevice {
    /// Carries out an input command.
    pub(crate) async fn input(&self, command: InputCommand, deadline: Instant) -> Result<()> {
        let agent = &self.agent;
        match command {
            InputCommand::Tap { at } => agent.touch(on_screen(at)?, None, deadline).await?,
            InputCommand::LongPress { at, hold } => {
                let hold = hold.min(GESTURE_TIMEOUT);
                agent.touch(on_screen(at)?, Some(hold), deadline).await?;
            }
            InputCommand::Swipe { from, to, duration } => {
                let (from, to) = (on_screen(from)?, on_screen(to)?);
                let time = duration.min(GESTURE_TIMEOUT);
                agent.swipe(from, to, time, deadline).await?;
            }
            InputCommand::Drag { from, to, duration } => {
                let (from, to) = (on_screen(from)?, on_screen(to)?);
                let time = duration.min(GESTURE_TIMEOUT);
                agent.drag(from, to, time, deadline).await?;
            }
            InputCommand::Pinch { from, to, duration } => {
                for at in from.into_iter().chain(to) {
                    on_screen(at)?;
                }
                let time = duration.min(GESTURE_TIMEOUT);
                agent.pinch(from, to, time, deadline).await?;
            }
            InputCommand::Text(text) => agent.type_text(&text, deadline).await?,
            InputCommand::Erase(count) => self.erase(count, deadline).await?,
            InputCommand::Key(key) => agent.press(&[Keycode::of(key)], deadline).await?,
            InputCommand::HideKeyboard => self.hide_keyboard(deadline).await?,
            InputCommand::SetClipboard(text) => agent.set_clipboard(&text, deadline).await?,
            InputCommand::Paste => agent.paste(deadline).await?,
        }
        Ok(())
    }

    async fn erase(&self, count: Option<u32>, deadline: Instant) -> Result<()> {
        match count {
            Some(count) => {
                let keys = vec![Keycode::DEL; count.min(MAX_ERASED) as usize];
                Ok(self.agent.press(&keys, deadline).await?)
            }
            None => {
                let screen = self.read(deadline).await?;
                let length = screen.tree.nodes().iter().find_map(|node| {
                    let NodeDetail::Android(node) = &node.detail else {
                        return None;
                    };
                    (node.is_focused && node.is_editable)
                        .then(|| node.text.as_ref().map_or(0, |text| text.chars().count()))
                });
                match length {
                    None => Err(unmet("erase text: no field has the focus")),
                    Some(0) => Ok(()),
                    Some(length) => Ok(self.agent.clear_field(length, deadline).await?),
                }
            }
        }
    }

    /// Sends the keyboard away. The key is pressed only when there is one, for without one it
    /// leaves the screen.
    async fn hide_keyboard(&self, deadline: Instant) -> Result<()> {
        if !self.has_keyboard(deadline).await? {
            return Ok(());
        }
        self.agent.press(&[Keycode::BACK], deadline).await?;
        let limit = deadline.min(Instant::now() + KEYBOARD_TIMEOUT);
        while self.has_keyboard(deadline).await? {
            if Instant::now() + KEYBOARD_POLL >= limit {
                return Err(unmet("hide the keyboard: it stays"));
            }
            tokio::time::sleep(KEYBOARD_POLL).await;
        }
        Ok(())
    }

    async fn has_keyboard(&self, deadline: Instant) -> Result<bool> {
        let command = "dumpsys input_method | grep mInputShown=";
        let output = self.shell(command, deadline).await?;
        Ok(output.out().contains("mInputShown=true"))
    }
}

/// A place that is a place. What lies beyond the edge is the device's to judge.
fn on_screen(at: Point) -> Result<Point> {
    let is_place = |n: f64| n.is_finite() && n.abs() < 100_000.0;
    if is_place(at.x) && is_place(at.y) {
        return Ok(at);
    }
    let message = format!("({}, {}) is no place on a screen", at.x, at.y);
    Err(DriverError::Invalid(message).into())
}
