//! Tools for pages. The driver waits for elements; these only say what is wanted.

/// Arguments that name an element besides what is listed. Spelled out in each struct: `flatten`
/// would read every scalar before it is known which type is wanted.
macro_rules! with_element {
    ($(#[$meta:meta])* struct $name:ident { $($fields:tt)* }) => {
        arguments! {
            $(#[$meta])*
            struct $name(reasoning) {
                $($fields)*
                /// A number of the compact list (`e4`), `css=...`, `text=...`, or an ARIA descriptor
                /// (`button "Save"`). Used when there is no selector, and by actions whose selector
                /// matches nothing.
                #[serde(rename = "ref")]
                reference: Option<String>,
                /// The durable selector; tried first.
                #[serde(default)]
                #[schemars(schema_with = "selector_schema")]
                node_selector: Option<NodeSelector>,
            }
        }

        impl $name {
            fn target(&mut self) -> WebTarget {
                WebTarget {
                    selector: self.node_selector.take(),
                    reference: self.reference.take().filter(|text| !text.trim().is_empty()),
                }
            }
        }
    };
}

mod assertions;
mod queries;
mod rules;

use std::time::Duration;

use packtrain_drivers::selector::NodeSelector;
use packtrain_drivers::{
    Command, NavigateTo, Observation, Platform, Size, SnapshotDetail, WebCommand, WebTarget,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::json;

use self::rules::{named, regular};
use crate::builtin::{Tools, Way, caseless, number, yes};
use crate::call::Call;
use crate::tool::{Answer, ToolError, Typed};

pub use self::rules::why_no_pattern;

const WEB: &[Platform] = &[Platform::Web];

pub(super) fn all() -> Tools {
    let families = [tools(), assertions::tools(), queries::tools()];
    families.into_iter().flatten().collect()
}

tools! { WEB;
    /// Opens a URL, or goes back or forward. Relative URLs are
    /// below the base URL, or files beside the trail.
    Action web_navigate Navigate(reasoning) {
        /// GOTO, BACK or FORWARD.
        #[serde(default, deserialize_with = "caseless")]
        action: Navigation,
        /// Where to, for GOTO.
        #[serde(default)]
        url: String,
    }
    .ruled(Navigate::rule)
    |arguments, call| {
        let to = match arguments.action {
            Navigation::Goto if arguments.url.trim().is_empty() => {
                return Err(ToolError::failed("missing `url`"));
            }
            Navigation::Goto => NavigateTo::Url(arguments.url),
            Navigation::Back => NavigateTo::Back,
            Navigation::Forward => NavigateTo::Forward,
        };
        web(call, WebCommand::Navigate(to)).await
    };

    /// Clicks an element once it is visible, stable and not covered.
    Action web_click Element
    .ruled(|mut arguments| named(&arguments.target()))
    |mut arguments, call| {
        let target = arguments.target();
        web(call, WebCommand::Click { target }).await
    };

    /// Fills a field, or appends to it with `clearFirst: false`.
    Action web_type Type: with_element {
        /// The text.
        text: String,
        /// Replace what is there instead of typing behind it.
        #[serde(default = "yes")]
        clear_first: bool,
    }
    |mut arguments, call| {
        let command = WebCommand::Type {
            target: arguments.target(),
            text: arguments.text,
            clear_first: arguments.clear_first,
        };
        web(call, command).await
    };

    /// Fills a field with a value that no log shows.
    Action web_fillSecret FillSecret {
        /// The element, as in other tools.
        #[serde(rename = "ref")]
        reference: String,
        /// The value.
        value: String,
    }
    .hiding("value")
    |arguments, call| {
        let command = WebCommand::Type {
            target: WebTarget {
                selector: None,
                reference: Some(arguments.reference),
            },
            text: arguments.value,
            clear_first: true,
        };
        web(call, command).await
    };

    /// Moves the mouse over an element.
    Action web_hover Element
    .ruled(|mut arguments| named(&arguments.target()))
    |mut arguments, call| {
        let target = arguments.target();
        web(call, WebCommand::Hover { target }).await
    };

    /// Chooses options of a list by value or label.
    Action web_selectOption Select: with_element {
        /// Values or labels.
        values: Vec<String>,
    }
    .ruled(Select::rule)
    |mut arguments, call| {
        if arguments.values.is_empty() {
            return Err(ToolError::failed("`values` is empty"));
        }
        let target = arguments.target();
        let values = arguments.values;
        web(call, WebCommand::Select { target, values }).await
    };

    /// Gives a page files that lie beside the trail or in the project: to a file input, or to
    /// whatever a click on the element opens. Packtrain's own.
    Action web_upload Upload: with_element {
        /// Files, from the trail's folder or the working directory on, and in none above.
        files: Vec<String>,
    }
    .ruled(Upload::rule)
    |mut arguments, call| {
        let target = arguments.target();
        let files = arguments.files;
        web(call, WebCommand::Upload { target, files }).await
    };

    /// Presses a key or a chord: `Enter`, `Control+A`.
    Action web_pressKey PressKey(reasoning) {
        /// `Enter`, `Control+A`.
        key: String,
    }
    .ruled(PressKey::rule)
    |arguments, call| web(call, WebCommand::PressKey(arguments.key)).await;

    /// Scrolls the page, or the container an element names.
    Action web_scroll Scroll: with_element {
        /// UP, DOWN, LEFT or RIGHT.
        #[serde(default, deserialize_with = "caseless")]
        direction: Way,
        /// CSS pixels.
        #[serde(default = "number::<500, u32>")]
        amount: u32,
    }
    |mut arguments, call| {
        let command = WebCommand::Scroll {
            target: arguments.target(),
            direction: arguments.direction.into(),
            amount: arguments.amount,
        };
        web(call, command).await
    };

    /// Waits 1 to 30 seconds. Tools wait for what they need by themselves; this is for what
    /// cannot be seen.
    Action web_wait Wait(reasoning) {
        /// 1 to 30.
        #[serde(default = "number::<1, u64>")]
        seconds: u64,
    }
    |arguments, call| {
        call.pause(Duration::from_secs(arguments.seconds.clamp(1, 30))).await?;
        Ok(Answer::default())
    };

    /// Waits until some part of the URL matches a regular expression.
    Action web_waitForUrl WaitForUrl {
        /// A regular expression.
        pattern: String,
        /// Milliseconds.
        #[serde(default = "number::<30_000, u64>")]
        timeout_ms: u64,
    }
    .ruled(|arguments| regular("pattern", &arguments.pattern))
    |arguments, call| {
        let limit = Duration::from_millis(arguments.timeout_ms);
        let pattern = arguments.pattern;
        web(call, WebCommand::AwaitUrl { pattern, limit }).await
    };

    /// Changes the viewport.
    Action web_resize Resize(reasoning) {
        /// CSS pixels.
        width: u32,
        /// CSS pixels.
        height: u32,
    }
    |arguments, call| {
        let size = Size::new(f64::from(arguments.width), f64::from(arguments.height));
        web(call, WebCommand::Resize(size)).await
    };

    /// Adds cookies, from a JSON array or a whole storage state in Playwright's shape.
    Action web_applyCookies ApplyCookies {
        /// JSON.
        #[serde(default)]
        cookies_json: String,
    }
    |arguments, call| web(call, WebCommand::AddCookies(arguments.cookies_json)).await;

    /// Sets how the alerts, confirms and prompts that follow are answered. Packtrain's own.
    Action web_answerDialogs AnswerDialogs {
        /// OK instead of Cancel.
        accept: bool,
        /// What to enter into prompts.
        text: Option<String>,
    }
    |AnswerDialogs { accept, text }, call| {
        web(call, WebCommand::AnswerDialogs { accept, text }).await
    };

    /// Runs JavaScript in the page and returns its result.
    Action web_evaluate Evaluate {
        /// An expression; `(() => { ... })()` for statements.
        script: String,
    }
    .internal()
    .unrecorded()
    .code("script")
    |arguments, call| {
        let command = Command::Web(WebCommand::Evaluate(arguments.script));
        let Observation::Json(value) = call.device(command).await? else {
            return Ok(Answer::default());
        };
        let text = match &value {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Ok(Answer {
            typed: Some(Typed::Value(value)),
            ..Answer::text(text)
        })
    };
}

async fn web(call: &Call<'_>, command: WebCommand) -> Result<Answer, ToolError> {
    call.act(Command::Web(command)).await
}

async fn read(call: &Call<'_>, detail: SnapshotDetail) -> Result<Answer, ToolError> {
    call.act(Command::Snapshot(detail)).await
}

/// A selector in short: its page block. Relations such as `below` and `childOf` are on the page of
/// selectors.
fn selector_schema(_: &mut SchemaGenerator) -> Schema {
    let text = json!({ "type": "string" });
    json_schema!({ "type": "object", "properties": { "web": { "type": "object", "properties": {
        "ariaRole": text, "ariaNameRegex": text, "cssSelector": text, "dataTestId": text,
        "nthIndex": { "type": "integer" },
    } } } })
}

with_element! {
    /// An element and nothing else.
    struct Element {}
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum Navigation {
    #[default]
    Goto,
    Back,
    Forward,
}
