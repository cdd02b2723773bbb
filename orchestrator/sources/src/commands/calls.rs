//! From a request to the calls of tools that carry it out: those a person would record.

use packtrain_drivers::Platform;
use serde_json::{Value, json};

use super::message::Direction;
use super::table::requests;
use super::{CommandError, Planned, PlannedCall};

/// How long `WaitUntilVisible` waits, in milliseconds.
pub(super) const WAIT_MS: u32 = 10_000;
/// So many swipes in one request.
const MAX_SWIPES: u32 = 20;
/// What has the focus of a page, if one can type into it.
pub(super) const FOCUSED: &str = "css=:is(input, textarea, [contenteditable=''], [contenteditable=true], \
                       [contenteditable=plaintext-only], [role=textbox], [role=searchbox], \
                       [role=combobox]):focus";
/// Scales of a pinch that fingers can do.
pub(super) const SCALES: std::ops::RangeInclusive<f64> = 0.1..=10.0;

pub(super) fn one(tool: &'static str, arguments: Value) -> Planned {
    Ok(vec![PlannedCall { tool, arguments }])
}

/// Leaves out what is not given, and flags that say what is so anyway.
pub(super) fn given<const N: usize>(all: [(&str, Value); N]) -> Value {
    let is_said = |value: &Value| !value.is_null() && *value != json!(false);
    let said = all.into_iter().filter(|(_, value)| is_said(value));
    Value::Object(said.map(|(key, value)| (key.to_owned(), value)).collect())
}

pub(super) fn not_blank(field: &str, value: &str) -> Result<(), CommandError> {
    if value.trim().is_empty() {
        return Err(CommandError::invalid(format!("`{field}` is empty")));
    }
    Ok(())
}

/// An element that is named by a text, an id, or both.
pub(super) struct Element {
    text: Option<String>,
    id: Option<String>,
    exact: bool,
}

impl Element {
    pub(super) fn new(
        text: Option<String>,
        id: Option<String>,
        exact: Option<bool>,
    ) -> Result<Self, CommandError> {
        for (field, value) in [("text", &text), ("id", &id)] {
            if let Some(value) = value {
                not_blank(field, value)?;
            }
        }
        if text.is_none() && id.is_none() {
            return Err(CommandError::invalid("missing `text` or `id`"));
        }
        let exact = exact.unwrap_or(false);
        if exact && text.is_none() {
            return Err(CommandError::invalid("`exact` needs `text`"));
        }
        Ok(Self { text, id, exact })
    }

    /// As a CSS selector of Playwright's kind: only what is visible counts, as on phones.
    fn css(&self) -> String {
        let id = self.id.as_deref().map(|id| {
            let id = css_text(id);
            format!(":is([id={id}], [data-testid={id}])")
        });
        let text = self.text.as_deref().map(|text| {
            let how = match (self.exact, &self.id) {
                (true, _) => "text-is",
                (false, Some(_)) => "has-text",
                (false, None) => "text",
            };
            // White space counts as one blank.
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            format!(":{how}({})", css_text(&text))
        });
        let named: String = [id, text].into_iter().flatten().collect();
        named + ":visible"
    }

    /// As the durable selector of a page.
    fn web_selector(&self, index: Option<u32>) -> Value {
        json!({ "web": given([("cssSelector", json!(self.css())), ("nthIndex", json!(index))]) })
    }

    /// As the durable selector of a phone, by its id alone.
    fn id_selector(id: &str, index: Option<u32>, on: Platform) -> Value {
        let block = match on {
            Platform::Ios => "iosMaestro",
            Platform::Android | Platform::Web => "androidMaestro",
        };
        let pattern = match on {
            Platform::Android => format!("(?:.*/)?{}", regex::escape(id)),
            Platform::Ios | Platform::Web => regex::escape(id),
        };
        given([
            (block, json!({ "resourceIdRegex": pattern })),
            ("index", json!(index)),
        ])
    }

    /// Expects it to be visible.
    pub(super) fn expected(self, timeout_ms: Option<u32>, on: Platform) -> Planned {
        let timeout = json!(timeout_ms);
        match (on, &self.text, &self.id) {
            (Platform::Web, Some(text), None) => one(
                "web_verifyTextVisible",
                given([
                    ("text", json!(text)),
                    ("exact", json!(self.exact)),
                    ("timeoutMs", timeout),
                ]),
            ),
            (Platform::Web, _, _) => self.asked("web_assertVisible", timeout_ms),
            (Platform::Android | Platform::Ios, Some(text), id) => one(
                "assertVisibleWithText",
                given([
                    ("text", json!(text)),
                    ("exact", json!(self.exact)),
                    ("contains", json!(!self.exact)),
                    ("id", json!(id.as_deref().map(regex::escape))),
                    ("timeoutMs", timeout),
                ]),
            ),
            (Platform::Android | Platform::Ios, None, id) => one(
                "assertVisibleWithResourceId",
                given([
                    ("resourceId", json!(id.as_deref().map(regex::escape))),
                    ("timeoutMs", timeout),
                ]),
            ),
        }
    }

    /// Asks for it.
    pub(super) fn asked(self, tool: &'static str, timeout_ms: Option<u32>) -> Planned {
        one(
            tool,
            given([
                ("text", json!(self.text)),
                ("id", json!(self.id)),
                ("exact", json!(self.exact)),
                ("timeoutMs", json!(timeout_ms)),
            ]),
        )
    }
}

/// Taps an element.
pub(super) fn tap(request: requests::Tap, on: Platform) -> Planned {
    let index = request.index;
    let element = Element::new(request.text, request.id, request.exact)?;
    match (on, &element.text, &element.id) {
        (Platform::Web, Some(text), None) if index.is_none() && !element.exact => {
            // The text and nothing else: `main` alone would be a role, and `e4` an element.
            one("web_click", json!({ "ref": format!("text={text}") }))
        }
        (Platform::Web, _, _) => one(
            "web_click",
            json!({ "nodeSelector": element.web_selector(index) }),
        ),
        (Platform::Android | Platform::Ios, Some(text), id) => one(
            "tapOnElementWithText",
            given([
                ("text", json!(text)),
                ("exact", json!(element.exact)),
                ("id", json!(id.as_deref().map(regex::escape))),
                ("index", json!(index)),
            ]),
        ),
        (Platform::Android | Platform::Ios, None, id) => one(
            "tapOnElementBySelector",
            json!({ "nodeSelector": Element::id_selector(id.as_deref().unwrap_or_default(), index, on) }),
        ),
    }
}

/// Swipes, as often as requested.
pub(super) fn scroll(request: requests::Scroll, _: Platform) -> Planned {
    // The finger goes the other way.
    let finger = match request.direction {
        Direction::Up => Direction::Down,
        Direction::Down => Direction::Up,
        Direction::Left => Direction::Right,
        Direction::Right => Direction::Left,
    };
    let amount = request.amount.unwrap_or(1);
    if !(1..=MAX_SWIPES).contains(&amount) {
        return Err(CommandError::invalid(format!(
            "invalid `amount` {amount}: expected 1 to {MAX_SWIPES}"
        )));
    }
    let swipe = PlannedCall {
        tool: "swipe",
        arguments: json!({ "direction": finger.word() }),
    };
    Ok((0..amount).map(|_| swipe.clone()).collect())
}

/// A text in CSS.
fn css_text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                quoted.push_str(&format!("\\{:x} ", u32::from(letter)))
            }
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

/// An element of a page by a CSS selector alone.
pub(super) fn by_css(selector: &str) -> Result<Value, CommandError> {
    not_blank("selector", selector)?;
    Ok(json!({ "nodeSelector": { "web": { "cssSelector": selector } } }))
}
