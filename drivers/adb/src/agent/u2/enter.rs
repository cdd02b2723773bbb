//! Text that no key types, into the field that has the focus; and emptying that field.
//!
//! A field's text is set as a whole where that is possible: unlike pasting it shows no overlay on
//! the screen and leaves the clipboard alone. What comes of it is looked at, for no method says.

use std::time::Duration;

use packtrain_drivers::{NodeDetail, Size};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::U2Agent;
use crate::agent::{AgentError, UiAgent as _};
use crate::dump::{self, Leave};
use crate::phone::Repeat;

/// How long a field may take to show its new text.
const TEXT_TIMEOUT: Duration = Duration::from_secs(1);
/// How often to look at it.
const TEXT_POLL: Duration = Duration::from_millis(30);

/// The field that has the focus.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    text: String,
    is_password: bool,
}

impl U2Agent {
    /// Enters text behind what the focused field holds.
    pub(super) async fn enter(&self, text: &str, deadline: Instant) -> Result<(), AgentError> {
        let Some(field) = self.focused_field(deadline).await? else {
            // No field as accessibility knows it, but a game or a canvas may take the paste.
            return self.paste_in(text, deadline).await;
        };
        // A password's own text is not known, so nothing can be put behind it.
        let is_known = !field.is_password || field.text.is_empty();
        if is_known && self.set_whole(&field, text, deadline).await? {
            return Ok(());
        }
        self.paste_in(text, deadline).await?;
        if self.becomes(deadline, |now| now != field.text).await? {
            return Ok(());
        }
        Err(AgentError::Refused(
            "the focused field accepts neither set nor pasted text".to_owned(),
        ))
    }

    /// Empties the focused field, which holds `length` characters.
    pub(super) async fn empty(&self, length: usize, deadline: Instant) -> Result<(), AgentError> {
        self.act("clearInputText", json!([]), deadline).await?;
        if self.becomes(deadline, str::is_empty).await? {
            return Ok(());
        }
        // Some fields do not listen to Ctrl+A.
        self.plain.clear_field(length, deadline).await
    }

    async fn set_whole(
        &self,
        field: &Field,
        text: &str,
        deadline: Instant,
    ) -> Result<bool, AgentError> {
        let whole = field.text.clone() + text;
        match self
            .act("setText", json!([focused(), whole]), deadline)
            .await
        {
            Ok(()) => self.becomes(deadline, |now| now != field.text).await,
            // It says so when the field cannot be set, or has gone meanwhile.
            Err(AgentError::Refused(reason)) => {
                tracing::debug!(reason, "the field's text cannot be set");
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    async fn paste_in(&self, text: &str, deadline: Instant) -> Result<(), AgentError> {
        self.clipboard.lock().await.is_clobbered = true;
        self.put_on_clipboard(text, deadline).await?;
        self.act("pasteClipboard", json!([]), deadline).await
    }

    pub(super) async fn put_on_clipboard(
        &self,
        text: &str,
        deadline: Instant,
    ) -> Result<(), AgentError> {
        let params = json!(["packtrain", text]);
        self.call(
            "setClipboard",
            params,
            Repeat::Freely,
            Duration::ZERO,
            deadline,
        )
        .await
        .map(drop)
    }

    /// Waits a moment for the focused field's text to be as wanted; without a field it is.
    async fn becomes(
        &self,
        deadline: Instant,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<bool, AgentError> {
        let limit = deadline.min(Instant::now() + TEXT_TIMEOUT);
        loop {
            match self.focused_field(deadline).await? {
                Some(field) if !is_wanted(&field.text) => {}
                Some(_) | None => return Ok(true),
            }
            if Instant::now() >= limit {
                return Ok(false);
            }
            tokio::time::sleep(TEXT_POLL).await;
        }
    }

    async fn focused_field(&self, deadline: Instant) -> Result<Option<Field>, AgentError> {
        let text = self.dump(deadline).await?;
        let leave = Leave {
            keyboard: None,
            screen: Size::new(0.0, 0.0),
        };
        // A screen that cannot be read just now has no field that could be relied on.
        let Ok(dump) = dump::parse(&text, leave) else {
            return Ok(None);
        };
        Ok(dump
            .tree
            .nodes()
            .iter()
            .find_map(|node| match &node.detail {
                NodeDetail::Android(node) if node.is_focused && node.is_editable => Some(Field {
                    text: node.text.clone().unwrap_or_default(),
                    is_password: node.is_password,
                }),
                _ => None,
            }))
    }
}

/// uiautomator2's selector for the element that has the focus: bit 17 of its mask.
fn focused() -> Value {
    json!({ "mask": 1 << 17, "childOrSibling": [], "childOrSiblingSelector": [], "focused": true })
}
