//! Touches, text, keys and the clipboard.

use std::time::Duration;

use packtrain_drivers::{DriverError, InputCommand, Point};
use tokio::time::Instant;

use crate::agent::Keycode;
use crate::device::{AndroidDevice, Result, unmet};
use crate::effect::Field;

/// How long the keyboard may take to go.
const KEYBOARD_TIMEOUT: Duration = Duration::from_secs(3);
/// How often it is asked for.
const KEYBOARD_POLL: Duration = Duration::from_millis(100);
/// How long a field may take to get the focus that a touch gave it.
const FOCUS_TIMEOUT: Duration = Duration::from_secs(2);
/// How often to look for it.
const FOCUS_POLL: Duration = Duration::from_millis(150);
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
                let field = Field::focused(&self.read(deadline).await?);
                match field.map(|field| field.held.chars().count()) {
                    None => Err(unmet("erase text: no field has the focus")),
                    Some(0) => Ok(()),
                    Some(length) => Ok(self.agent.clear_field(length, deadline).await?),
                }
            }
        }
    }

    /// Waits until something takes text: the keyboard is up, as for a terminal or a game that
    /// accessibility knows no field of, or a field has the focus without one.
    ///
    /// # Errors
    /// [`DriverError::Unmet`] when nothing does.
    pub(crate) async fn await_focus(&self, doing: &str, deadline: Instant) -> Result<()> {
        let limit = deadline.min(Instant::now() + FOCUS_TIMEOUT);
        loop {
            // A tenth of the time that reading the screen takes.
            if self.has_keyboard(deadline).await?
                || Field::focused(&self.read(deadline).await?).is_some()
            {
                return Ok(());
            }
            if Instant::now() + FOCUS_POLL >= limit {
                let what = format!("{doing}: no field has the focus; tap one first");
                return Err(unmet(what));
            }
            tokio::time::sleep(FOCUS_POLL).await;
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
                return Err(unmet("hide the keyboard: it is still shown"));
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
    let message = format!("invalid point ({}, {})", at.x, at.y);
    Err(DriverError::Invalid(message).into())
}
