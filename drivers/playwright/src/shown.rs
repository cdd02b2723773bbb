//! Text as a reader of the page sees it: a text engine finds what is in the document, hidden or not.

use std::time::Duration;

use packtrain_drivers::{DriverError, TextMatch};
use serde_json::json;
use tokio::time::Instant;

use crate::find::is_navigating;
use crate::locate;
use crate::read;
use crate::reading::{self, Frames, Place};
use crate::session::Session;
use crate::wire;

/// How often to look again when nothing is seen to change: styles change unseen.
pub(crate) const SHOWN_POLL: Duration = Duration::from_millis(250);

/// Where a selector is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    /// In every document of the tab that can be seen.
    Tab,
    /// It begins at an element that was found, in its document.
    Element,
}

/// A text that is to be seen.
pub(crate) struct ShownText<'a> {
    pub(crate) text: &'a str,
    pub(crate) matching: TextMatch,
    pub(crate) any_case: bool,
}

impl ShownText<'_> {
    /// Waits until one of the elements that `selector` matches shows it; how many do.
    pub(crate) async fn wait(
        &self,
        session: &Session,
        selector: &str,
        within: Within,
        limit: Duration,
    ) -> Result<u32, DriverError> {
        let question = json!({
            "do": "shows",
            "text": self.text,
            "whole": self.matching == TextMatch::Exact,
            "anyCase": self.any_case,
            "pattern": locate::containing(self.text),
        });
        let end = Instant::now() + limit;
        loop {
            let page = session.page()?;
            let places = match within {
                Within::Tab => reading::places(&page, Frames::Shown).await,
                Within::Element => vec![Place::default()],
            };
            for place in places {
                match reading::count(&page, &place.selector(selector), &question).await {
                    Ok(0) => {}
                    Ok(count) => return Ok(count),
                    Err(error) if is_navigating(&error) || wire::is_closed(&error) => {}
                    Err(_) if !place.is_page() => {}
                    Err(error) => return Err(wire::translate(&error, "read the page")),
                }
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(0);
            }
            let poll = left.min(SHOWN_POLL);
            let _ = tokio::time::timeout(poll, read::await_mutation(&page, poll)).await;
        }
    }
}
