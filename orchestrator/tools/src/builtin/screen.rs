//! Questions about the screen that a tool of a source asks on every platform. That something is not
//! there is an answer; that the device could not be asked is an error.

mod reading;

use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{
    Command, Observation, Platform, Snapshot, SnapshotDetail, TextMatch, WebCommand, WebElement,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use self::reading::ReadScreen;
use crate::builtin::{EVERYWHERE, Nothing};
use crate::call::Call;
use crate::mobile::element_query::{ElementQuery, TextCriterion, Words};
use crate::mobile::watch::{Watch, look};
use crate::mobile::words::text_of;
use crate::tool::{Answer, CapturedScreen, ToolError, Typed};

/// How long an assertion may take, in milliseconds.
const ASSERTION_MS: u64 = 5_000;

tools! { EVERYWHERE;
    /// Returns whether an element is visible: `{"visible": true}`.
    Query isVisible ElementCriteria
    .internal()
    |arguments, call| {
        let seen = arguments.seen(call).await?;
        Ok(Answer::data(json!({ "visible": seen.count > 0 })))
    };

    /// Returns whether the screen shows a text anywhere: `{"found": true}`.
    Query hasText Shown {
        /// The text, in any case.
        text: String,
    }
    .internal()
    |Shown { text }, call| {
        let sought = ElementCriteria { text: Some(text), ..ElementCriteria::default() };
        let seen = sought.seen(call).await?;
        Ok(Answer::data(json!({ "found": seen.count > 0 })))
    };

    /// Returns the text of the first visible element of an id: `{"text": "Save"}`, or `{}`.
    Query getElementText Identified {
        /// Its id, as in `isVisible`.
        id: String,
    }
    .internal()
    |Identified { id }, call| {
        let sought = ElementCriteria { id: Some(id), ..ElementCriteria::default() };
        Ok(Answer::data(match sought.seen(call).await?.text {
            Some(text) => json!({ "text": text }),
            None => json!({}),
        }))
    };

    /// Returns how many visible elements match: `{"count": 3}`.
    Query getElementCount ElementCriteria
    .internal()
    |arguments, call| {
        let seen = arguments.seen(call).await?;
        Ok(Answer::data(json!({ "count": seen.count })))
    };

    /// Expects an element to be visible, by its id, what it shows, or both. Packtrain's own.
    Assertion web_assertVisible ElementCriteria
    .on(&[Platform::Web])
    .internal()
    |mut arguments, call| {
        let limit = *arguments.timeout_ms.get_or_insert(ASSERTION_MS);
        let what = arguments.description();
        match arguments.seen(call).await?.count {
            0 => Err(ToolError::failed(format!(
                "{what} was not visible within {:.1} s",
                Duration::from_millis(limit).as_secs_f64()
            ))),
            _ => Ok(Answer::default()),
        }
    };

    /// Reads the screen: one element a line, with references that other tools take.
    Query readScreen ReadScreen
    .internal()
    |arguments, call| arguments.read(call).await;

    /// Takes a screenshot and a snapshot, and returns the snapshot.
    Query captureScreen Nothing
    .internal()
    |Nothing {}, call| {
        let snapshot = look(call, SnapshotDetail::default()).await?;
        let Observation::Screenshot(screenshot) = call.device(Command::Screenshot).await? else {
            return Err(ToolError::failed("the device returned no screenshot"));
        };
        call.session.screen().handed_out(&snapshot.refs);
        let text = snapshot.text.clone();
        let screen = CapturedScreen { screenshot, snapshot };
        Ok(Answer { typed: Some(Typed::Screen(Arc::new(screen))), ..Answer::text(text) })
    };
}

/// What was seen of what is sought.
struct FoundText {
    count: u64,
    /// What the first one says.
    text: Option<String>,
}

impl ElementCriteria {
    async fn seen(self, call: &Call<'_>) -> Result<FoundText, ToolError> {
        let blank = |text: &Option<String>| text.as_deref().is_some_and(|it| it.trim().is_empty());
        if self.text.is_none() && self.id.is_none() || blank(&self.text) || blank(&self.id) {
            return Err(ToolError::failed("missing `text` or `id`"));
        }
        let limit = Duration::from_millis(self.timeout_ms.unwrap_or(0));
        match call.session.platform() {
            Platform::Web => self.on_page(call, limit).await,
            platform @ (Platform::Android | Platform::Ios) => {
                let wanted = ElementQuery::words(self.words(), platform)?;
                let mut watch = Watch::new(call, limit);
                loop {
                    let snapshot = watch.look().await?;
                    let found = seen_of(&wanted, &snapshot);
                    if found.count > 0 || !watch.changes().await? {
                        return Ok(found);
                    }
                }
            }
        }
    }

    /// What is sought, in one line.
    fn description(&self) -> String {
        let how = if self.exact { "exact text" } else { "text" };
        let id = self.id.as_ref().map(|id| format!("id {id:?}"));
        let text = self.text.as_ref().map(|text| format!("{how} {text:?}"));
        let words: Vec<_> = [id, text].into_iter().flatten().collect();
        words.join(" and ")
    }

    async fn on_page(self, call: &Call<'_>, limit: Duration) -> Result<FoundText, ToolError> {
        let matching = if self.exact {
            TextMatch::Exact
        } else {
            TextMatch::Contains
        };
        let element = WebElement {
            id: self.id,
            text: self.text,
            matching,
        };
        let command = Command::Web(WebCommand::Look { element, limit });
        if let Observation::Json(seen) = call.device(command).await?
            && let Some(count) = seen["count"].as_u64()
        {
            let text = seen["text"].as_str().map(str::to_owned);
            return Ok(FoundText { count, text });
        }
        Err(ToolError::failed("cannot read the page"))
    }

    fn words(self) -> Words {
        Words {
            says: self.text.map(if self.exact {
                TextCriterion::Exactly
            } else {
                TextCriterion::Containing
            }),
            // Words have patterns.
            id: self.id.map(|id| regex::escape(&id)),
            ..Words::default()
        }
    }
}

fn seen_of(wanted: &ElementQuery, snapshot: &Snapshot) -> FoundText {
    let found = wanted.all(snapshot);
    let first = found.first().and_then(|&id| snapshot.tree.get(id));
    FoundText {
        count: found.len() as u64,
        text: first.and_then(|node| text_of(&node.detail).map(str::to_owned)),
    }
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ElementCriteria {
    /// A text somewhere in what the element says, in any case.
    text: Option<String>,
    /// Its id: Android's resource id, iOS's identifier, on pages `id` or `data-testid`.
    id: Option<String>,
    /// The whole text as it is written, in this case.
    #[serde(default)]
    exact: bool,
    /// How long to wait for a first one, in milliseconds; not at all when not given.
    timeout_ms: Option<u64>,
}
