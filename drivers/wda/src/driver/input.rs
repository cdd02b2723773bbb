//! Touches, text and keys.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use packtrain_drivers::{CommandContext, DriverError, InputCommand, Key, Observation, Point, Size};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Result, WdaDriver, done, noted};
use crate::agent::{Failure, WdaRequest};
use crate::answer::Refusal;
use crate::gesture::Gesture;

/// How long is waited for a field that was just tapped to take text.
const FOCUS_TIMEOUT: Duration = Duration::from_secs(2);
/// How often that is tried.
const FOCUS_POLL: Duration = Duration::from_millis(150);
/// How much longer each letter may take; WebDriverAgent types 60 a second.
const LETTER_TIMEOUT: Duration = Duration::from_millis(50);
/// How much longer than itself a touch may take. WebDriverAgent waits for nothing with it.
const TOUCH_TIMEOUT: Duration = Duration::from_secs(15);
/// Most characters that are deleted one by one.
const MAX_ERASED: u32 = 10_000;
/// How often to look again for an element that went away.
const FINDS: u32 = 3;
/// The key that deletes backwards.
const BACKSPACE: &str = "\u{8}";
/// USB's page of keys and its number for Escape.
const ESCAPE: (u32, u32) = (0x07, 0x29);

impl WdaDriver {
    pub(super) async fn input(
        &mut self,
        command: InputCommand,
        ctx: &CommandContext,
    ) -> Result<Observation> {
        match command {
            InputCommand::Tap { at } => {
                self.on_screen(at)?;
                self.touch("tap", Gesture::tap(at), ctx).await
            }
            InputCommand::LongPress { at, hold } => {
                self.on_screen(at)?;
                self.touch("press", Gesture::hold(at, hold), ctx).await
            }
            InputCommand::Swipe { from, to, duration } => {
                self.on_screen(from)?;
                finite(to)?;
                self.touch("swipe", Gesture::swipe(from, to, duration), ctx)
                    .await
            }
            InputCommand::Drag { from, to, duration } => {
                self.on_screen(from)?;
                finite(to)?;
                self.touch("drag", Gesture::drag(from, to, duration), ctx)
                    .await
            }
            InputCommand::Pinch { from, to, duration } => {
                for (from, to) in from.into_iter().zip(to) {
                    self.on_screen(from)?;
                    finite(to)?;
                }
                self.touch("pinch", Gesture::pinch(from, to, duration), ctx)
                    .await
            }
            InputCommand::Text(text) => {
                self.type_text("type", &text, ctx).await?;
                done()
            }
            InputCommand::Erase(Some(count)) => {
                let keys = BACKSPACE.repeat(count.min(MAX_ERASED) as usize);
                self.type_text("erase", &keys, ctx).await?;
                done()
            }
            InputCommand::Erase(None) => self.clear_field(ctx).await,
            InputCommand::Key(key) => self.press(key, ctx).await,
            InputCommand::HideKeyboard => self.hide_keyboard(ctx).await,
            InputCommand::SetClipboard(text) => self.set_clipboard(text, ctx).await,
            InputCommand::Paste => self.paste(ctx).await,
        }
    }

    /// One finger or several touch the screen.
    pub(super) async fn touch(
        &mut self,
        doing: &'static str,
        gesture: Gesture,
        ctx: &CommandContext,
    ) -> Result<Observation> {
        let limit = TOUCH_TIMEOUT + gesture.lasts();
        let request = WdaRequest::post(doing, "/actions", &gesture.into_body()).within(limit);
        match self.have(&request, ctx).await {
            // It had all the time it may take, so it is not the session's that is over.
            Err(DriverError::Timeout { after, .. }) if after >= limit => Err(DriverError::Lost {
                cause: format!(
                    "{doing}: WebDriverAgent did not answer within {:.0} s",
                    limit.as_secs_f64()
                ),
                hint: Some(
                    "it may have taken effect, so it was not retried; an app that hangs keeps \
                     WebDriverAgent waiting; otherwise start it again"
                        .to_owned(),
                ),
            }),
            touched => {
                touched?;
                done()
            }
        }
    }

    /// Types into whatever has the focus.
    async fn type_text(
        &mut self,
        doing: &'static str,
        text: &str,
        ctx: &CommandContext,
    ) -> Result<()> {
        if text.is_empty() {
            // Nothing is typed, but into a field.
            return self.focused(doing, ctx).await.map(drop);
        }
        let letters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let request = WdaRequest::post(doing, "/wda/keys", &json!({"value": [text]}))
            .lasting(LETTER_TIMEOUT.saturating_mul(letters));
        let end = Instant::now() + ctx.remaining_up_to(FOCUS_TIMEOUT);
        loop {
            match self.ask(&request, ctx).await {
                Ok(_) => return Ok(()),
                // Refused before the first letter, so the keyboard may be on its way.
                Err(failure) if failure.is(Refusal::NoKeyboard) => {
                    let left = end.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        let what = format!("{doing}: {}", self.access.no_focus());
                        let log = vec![failure.into_error("WebDriverAgent").to_string()];
                        return Err(DriverError::Unmet { what, log });
                    }
                    tokio::time::sleep(left.min(FOCUS_POLL)).await;
                }
                Err(failure) => return Err(failure.into_error(doing)),
            }
        }
    }

    /// The field that has the focus.
    async fn focused(&mut self, doing: &'static str, ctx: &CommandContext) -> Result<String> {
        let active = WdaRequest::get(doing, "/element/active");
        for _ in 0..FINDS {
            let found = match self.ask(&active, ctx).await {
                Ok(reply) => element(&reply.parse::<Value>(doing)?).map(str::to_owned),
                Err(failure) if failure.is(Refusal::NoElement) => None,
                Err(failure) if failure.is(Refusal::StaleElement) => continue,
                Err(failure) => return Err(failure.into_error(doing)),
            };
            return found
                .ok_or_else(|| DriverError::unmet(format!("{doing}: {}", self.access.no_focus())));
        }
        Err(DriverError::unmet(format!(
            "{doing}: the focus keeps changing"
        )))
    }

    /// Empties the field that has the focus.
    async fn clear_field(&mut self, ctx: &CommandContext) -> Result<Observation> {
        let doing = "empty the field";
        for _ in 0..FINDS {
            let found = self.focused(doing, ctx).await?;
            // Emptied twice, a field is empty.
            let clear = WdaRequest::post(doing, format!("/element/{found}/clear"), &json!({}));
            match self.ask(&clear.harmless(), ctx).await {
                Ok(_) => return done(),
                Err(failure) if failure.is(Refusal::StaleElement) => {}
                Err(failure) => return Err(failure.into_error(doing)),
            }
        }
        Err(DriverError::unmet(
            "empty the field: it was replaced by another each time it was found",
        ))
    }

    async fn press(&mut self, key: Key, ctx: &CommandContext) -> Result<Observation> {
        match key {
            Key::Enter => self.type_text("press Enter", "\n", ctx).await?,
            Key::Backspace => self.type_text("press Backspace", BACKSPACE, ctx).await?,
            Key::Tab => self.type_text("press Tab", "\t", ctx).await?,
            Key::Escape => {
                let (page, usage) = ESCAPE;
                let body = json!({"page": page, "usage": usage, "duration": 0.05});
                let request = WdaRequest::post("press Escape", "/wda/performIoHidEvent", &body);
                self.have(&request, ctx).await?;
            }
            Key::Home => {
                let request = WdaRequest::post("press Home", "/wda/homescreen", &json!({}));
                self.have(&request.at_top().harmless(), ctx).await?;
                self.front_changes();
            }
            Key::Lock => {
                let request =
                    WdaRequest::post("lock the device", "/wda/lock", &json!({})).harmless();
                self.have(&request, ctx).await?;
            }
            Key::VolumeUp => return self.press_button("volumeUp", ctx).await,
            Key::VolumeDown => return self.press_button("volumeDown", ctx).await,
            Key::Back => return self.go_back(ctx).await,
        }
        done()
    }

    async fn press_button(&mut self, name: &str, ctx: &CommandContext) -> Result<Observation> {
        let request =
            WdaRequest::post("press a button", "/wda/pressButton", &json!({"name": name}));
        match self.ask(&request, ctx).await {
            Ok(_) => done(),
            // Simulators have no such buttons.
            Err(Failure::Refused(refusal)) if refusal.message.contains("not supported") => {
                Err(self.unsupported(&format!("the button {name}")))
            }
            Err(failure) => Err(failure.into_error(request.doing())),
        }
    }

    /// iOS has no key for it; the way back is a swipe from the left edge, which nearly every app
    /// understands.
    async fn go_back(&mut self, ctx: &CommandContext) -> Result<Observation> {
        let Size { width, height } = self.screen_size();
        let from = Point::new(1.0, height / 2.0);
        let to = Point::new(width * 0.8, height / 2.0);
        let gesture = Gesture::swipe(from, to, Duration::from_millis(300));
        self.touch("go back", gesture, ctx).await?;
        noted("iOS has no Back key: swiped from the left edge")
    }

    async fn set_clipboard(&mut self, text: String, ctx: &CommandContext) -> Result<Observation> {
        let body = json!({
            "content": BASE64_STANDARD.encode(&text),
            "contentType": "plaintext",
        });
        let request =
            WdaRequest::post("fill the clipboard", "/wda/setPasteboard", &body).harmless();
        self.have(&request, ctx).await?;
        self.state.clipboard = Some(text);
        done()
    }

    /// Types what is on the clipboard: iOS asks people before an app may paste, and its menu for
    /// it is nowhere to be relied on.
    async fn paste(&mut self, ctx: &CommandContext) -> Result<Observation> {
        let body = json!({"contentType": "plaintext"});
        let request =
            WdaRequest::post("read the clipboard", "/wda/getPasteboard", &body).harmless();
        let told = match self.ask(&request, ctx).await {
            Ok(reply) => {
                let text: Option<String> = reply.parse(request.doing())?;
                let bytes = BASE64_STANDARD.decode(text.unwrap_or_default());
                let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
                text.filter(|text| !text.is_empty())
            }
            // Phones tell only the app in front, which WebDriverAgent is not.
            Err(Failure::Refused(_)) => None,
            Err(Failure::Driver(error)) => return Err(error),
        };
        let text = told.or_else(|| self.state.clipboard.clone());
        let text = text.ok_or_else(|| DriverError::unmet("paste: the clipboard is empty"))?;
        self.type_text("paste", &text, ctx).await?;
        noted("typed the text of the clipboard")
    }

    /// Whether somebody could touch there.
    fn on_screen(&self, at: Point) -> Result<()> {
        finite(at)?;
        let Size { width, height } = self.screen_size();
        let unknown = width <= 0.0 || height <= 0.0;
        if unknown || ((0.0..=width).contains(&at.x) && (0.0..=height).contains(&at.y)) {
            return Ok(());
        }
        Err(DriverError::Invalid(format!(
            "({:.0}, {:.0}) lies outside of the screen, which is {width:.0} by {height:.0} points",
            at.x, at.y
        )))
    }
}

fn finite(at: Point) -> Result<()> {
    if at.x.is_finite() && at.y.is_finite() {
        Ok(())
    } else {
        Err(DriverError::Invalid(format!(
            "invalid point ({}, {})",
            at.x, at.y
        )))
    }
}

/// The id of an element, as W3C or as it was before, if it can stand in a path.
fn element(value: &Value) -> Option<&str> {
    let keys = ["element-6066-11e4-a52e-4f735466cecf", "ELEMENT"];
    let id = keys.iter().find_map(|key| value.get(key)?.as_str())?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (!id.is_empty() && id.len() <= 128 && id.chars().all(plain)).then_some(id)
}
