//! What the typed commands answer.

use super::message::message;

macro_rules! messages {
    ($($(#[doc = $about:literal])+ $name:ident $fields:tt)*) => {
        $(message!($name, stringify!($name), concat!($($about),+), $fields);)*
    };
}

messages! {
    /// Whether an element is visible.
    IsVisibleResponse {
        /// Whether it is.
        visible: bool,
    }

    /// Whether the screen shows a text.
    HasTextResponse {
        /// Whether it does.
        found: bool,
    }

    /// The text of an element.
    GetElementTextResponse {
        /// What it says; left out when there is no such element, or it says nothing.
        text: Option<String>,
    }

    /// How many elements are visible.
    GetElementCountResponse {
        /// How many.
        count: u32,
    }

    /// What is on the screen. The picture and the tree are fetched from their addresses with the
    /// same credential. They are there until the tool call ends, or two more captures were made.
    ScreenState {
        /// Width in the units of bounds.
        width: f64,
        /// Height in the units of bounds.
        height: f64,
        /// The page's address, or the id of the app in front.
        location: Option<String>,
        /// The page's title.
        title: Option<String>,
        /// The elements as a compact list, a line each; at most 64 KiB.
        text: String,
        /// Whether `text` was cut.
        truncated: Option<bool>,
        /// Where the picture is: `image/png`.
        screenshot_url: String,
        /// Where the tree is: `application/json`.
        tree_url: String,
    }

    /// An action was carried out, or an assertion holds.
    ActionResult {
        /// What is worth reading, if anything.
        message: Option<String>,
    }

    /// What a shell command printed.
    ShellResult {
        /// Standard output and standard error.
        output: String,
    }

    /// What a script resulted in.
    EvaluateJsResponse {
        /// The result as JSON.
        result: serde_json::Value,
    }
}
