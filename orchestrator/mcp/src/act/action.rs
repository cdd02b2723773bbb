//! One action: what an agent says, and which calls of tools it comes to on a platform. Pure.

use std::fmt;

use packtrain_drivers::Platform;
use rmcp::model::JsonObject;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Value, json};

use packtrain_daemon::HeldDevice;
use packtrain_toolsets::catalog::LEASE;

/// The most characters of one text.
const MAX_TEXT: usize = 20_000;
/// The longest that anything is waited for, in milliseconds.
const MAX_WAIT_MS: u64 = 60_000;
const WAIT_MS: u64 = 10_000;
/// How long an element is waited for that is expected, or to be acted on.
const ELEMENT_MS: u64 = 5_000;
/// The tool that looks, and waits for what it looks for.
pub(crate) const READING: &str = "readScreen";

/// A call of a tool.
type PlannedCall = (String, Value);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ActArgs {
    /// The lease, from device_acquire.
    pub(super) lease: String,
    /// In order, up to 50.
    pub(super) actions: Vec<Action>,
}

impl ActArgs {
    /// Opens an app by its id, or an address.
    pub(crate) fn opening(held: &HeldDevice, what: String) -> Self {
        let is_web = held.device.id.platform() == Platform::Web;
        let (tool, argument) = match what.contains("://") {
            _ if is_web => ("web_navigate", "url"),
            true => ("openUrl", "url"),
            false => ("launchApp", "appId"),
        };
        let action = Action {
            tool: Some(tool.to_owned()),
            args: JsonObject::from_iter([(argument.to_owned(), what.into())]),
            ..Action::default()
        };
        Self {
            lease: held.handle.clone(),
            actions: vec![action],
        }
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Action {
    action: Option<Verb>,
    /// The element's reference.
    #[serde(rename = "ref")]
    reference: Option<String>,
    /// Or its role, with `name`.
    role: Option<String>,
    /// Its name.
    name: Option<String>,
    /// Or a text that it shows.
    text: Option<String>,
    /// type: the text. press: `Enter`, `Back`, `Control+A`. select: the option. swipe: up, down, left, right.
    value: Option<String>,
    /// wait_for, expect: that it is not there.
    gone: bool,
    /// How long to wait for the element; 5000 to act on it or expect it, 10000 to wait for it.
    timeout_ms: Option<u64>,
    /// Another tool, instead of `action`.
    tool: Option<String>,
    /// What it takes, without the lease.
    args: JsonObject,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Verb {
    Tap,
    Type,
    Press,
    Select,
    Swipe,
    WaitFor,
    Expect,
}

impl Action {
    /// The calls that it comes to when it is done to the element of a reference; without one, which tools
    /// it takes.
    ///
    /// # Errors
    /// Why it is invalid, in words.
    pub(super) fn calls(
        &self,
        platform: Platform,
        target: Option<&str>,
    ) -> Result<Vec<PlannedCall>, String> {
        let element = [&self.reference, &self.role, &self.name, &self.text];
        let texts = element.into_iter().chain([&self.value]).flatten();
        if texts.map(|text| text.chars().count()).max() > Some(MAX_TEXT) {
            return Err(format!("a text has more than {MAX_TEXT} characters"));
        }
        if element
            .into_iter()
            .flatten()
            .any(|text| text.trim().is_empty())
        {
            return Err("`role`, `name` and `text` must not be blank".to_owned());
        }
        let names_element = element.into_iter().any(Option::is_some);
        let verb = match (self.action, &self.tool) {
            (Some(verb), None) => verb,
            (None, Some(tool)) if !names_element && self.value.is_none() => {
                let mut arguments = self.args.clone();
                arguments.remove(LEASE);
                return Ok(vec![(tool.clone(), arguments.into())]);
            }
            (None, Some(_)) => return Err("pass a tool's arguments in `args`".to_owned()),
            (Some(_), Some(_)) | (None, None) => {
                return Err("expected either `action` or `tool`".to_owned());
            }
        };
        if !self.args.is_empty() {
            return Err(format!("{self} takes no `args`"));
        }
        if self.reference.is_some() && element[1..].iter().any(|word| word.is_some()) {
            return Err(format!(
                "{self}: use `ref` alone, without `role`, `name` or `text`"
            ));
        }
        if self.name.is_some() && self.text.is_some() {
            return Err(format!("{self}: expected either `name` or `text`"));
        }
        let takes_value = matches!(verb, Verb::Type | Verb::Press | Verb::Select | Verb::Swipe);
        let may_lack_element = takes_value && verb != Verb::Select;
        if !may_lack_element && !names_element {
            return Err(format!(
                "{self} needs an element: `ref`, `role` and `name`, or `text`"
            ));
        }
        if takes_value != self.value.is_some() {
            let how = if takes_value { "needs" } else { "takes no" };
            return Err(format!("{self} {how} `value`"));
        }
        if self.gone && !self.is_look() {
            return Err(format!("{self} takes no `gone`"));
        }
        let value = self.value.as_deref().unwrap_or_default();
        let at = self.reference.as_deref().or(target);
        let is_web = platform == Platform::Web;
        let is_back = value.eq_ignore_ascii_case("back");
        let calls = match (verb, is_web) {
            (Verb::WaitFor | Verb::Expect, _) => vec![match &self.reference {
                None => (READING, self.find(false)),
                Some(_) if self.gone => {
                    let words = "with `gone` takes `role` and `name`, or `text`";
                    return Err(format!("{self} {words}"));
                }
                Some(_) if is_web => {
                    let arguments = json!({ "ref": at, "timeoutMs": self.timeout_ms() });
                    ("web_verifyElementVisible", arguments)
                }
                Some(_) => ("assertVisible", json!({ "ref": at })),
            }],
            (Verb::Tap, true) => vec![("web_click", json!({ "ref": at }))],
            (Verb::Tap, false) => vec![("tap", json!({ "ref": at }))],
            (Verb::Type, true) => vec![("web_type", json!({ "ref": at, "text": value }))],
            (Verb::Type, false) => {
                let tap = names_element.then(|| ("tap", json!({ "ref": at })));
                let typing = ("inputText", json!({ "text": value }));
                let clearing = ("clearText", json!({}));
                tap.into_iter().chain([clearing, typing]).collect()
            }
            (Verb::Press, _) if names_element => {
                return Err("press takes no element: tap it first".to_owned());
            }
            (Verb::Press, true) if is_back => vec![("web_navigate", json!({ "action": "BACK" }))],
            (Verb::Press, false) if is_back => vec![("pressBack", json!({}))],
            (Verb::Press, true) => vec![("web_pressKey", json!({ "key": value }))],
            (Verb::Press, false) => vec![("pressKey", json!({ "keyCode": value }))],
            (Verb::Select, true) => {
                vec![("web_selectOption", json!({ "ref": at, "values": [value] }))]
            }
            (Verb::Select, false) => {
                return Err("select is for pages; tap the element and then the option".to_owned());
            }
            (Verb::Swipe, false) if self.reference.is_some() || self.role.is_some() => {
                return Err("swipe takes the `text` of an element on a phone".to_owned());
            }
            (Verb::Swipe, _) => {
                // A page is scrolled the other way than the finger moves.
                let (finger, page) = match value.to_lowercase().as_str() {
                    "up" => ("UP", "DOWN"),
                    "down" => ("DOWN", "UP"),
                    "left" => ("LEFT", "RIGHT"),
                    "right" => ("RIGHT", "LEFT"),
                    _ => return Err("swipe takes up, down, left or right".to_owned()),
                };
                // The tool takes a pattern.
                let on = self.name.as_ref().or(self.text.as_ref());
                let on = on.map(|text| regex::escape(text));
                vec![match is_web {
                    true => ("web_scroll", json!({ "ref": at, "direction": page })),
                    false => (
                        "swipe",
                        json!({ "direction": finger, "swipeOnElementText": on }),
                    ),
                }]
            }
        };
        let calls = calls.into_iter().map(|(tool, mut arguments)| {
            if let Some(all) = arguments.as_object_mut() {
                all.retain(|_, value| !value.is_null());
            }
            (tool.to_owned(), arguments)
        });
        Ok(calls.collect())
    }

    pub(super) fn is_look(&self) -> bool {
        matches!(self.action, Some(Verb::WaitFor | Verb::Expect))
    }

    /// How the screen is read for the element that it is done to, unless its reference will do.
    pub(super) fn sought(&self, platform: Platform) -> Option<Value> {
        // A phone types into the field that has the focus, which nothing else takes from another.
        let is_field = self.action == Some(Verb::Type) && platform != Platform::Web;
        let words = [&self.role, &self.name, &self.text];
        let is_named = words.into_iter().any(Option::is_some);
        let is_sought = is_named || is_field && self.reference.is_some();
        (is_sought && !self.is_look()).then(|| self.find(is_field))
    }

    fn find(&self, field: bool) -> Value {
        let Self {
            reference,
            role,
            name,
            text,
            gone,
            ..
        } = self;
        let find = json!({ "ref": reference, "role": role, "name": name, "text": text, "gone": gone, "field": field });
        json!({ "find": find, "required": true, "timeoutMs": self.timeout_ms() })
    }

    fn timeout_ms(&self) -> u64 {
        let waits = self.action == Some(Verb::WaitFor);
        let usual = if waits { WAIT_MS } else { ELEMENT_MS };
        self.timeout_ms.unwrap_or(usual).min(MAX_WAIT_MS)
    }
}

/// `tap button "Sign in"`; not what is typed, which may be a secret.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |word: &String| word.chars().take(60).collect::<String>();
        f.write_str(&match self.action {
            Some(Verb::WaitFor) => "wait_for".to_owned(),
            Some(verb) => format!("{verb:?}").to_lowercase(),
            None => self.tool.as_ref().map_or("an action".to_owned(), short),
        })?;
        let plain = [&self.reference, &self.role].map(|word| word.as_ref().map(short));
        let quoted =
            [&self.name, &self.text].map(|word| word.as_ref().map(|it| format!("{:?}", short(it))));
        let mut words = plain.into_iter().chain(quoted).flatten();
        words.try_for_each(|word| write!(f, " {word}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(platform: Platform, action: &Value) -> Result<Vec<PlannedCall>, String> {
        let action: Action = serde_json::from_value(action.clone()).unwrap();
        action.calls(platform, Some("e4"))
    }

    #[track_caller]
    fn comes_to(action: Value, web: &[(&str, Value)], phone: &[(&str, Value)]) {
        for (platform, expected) in [(Platform::Web, web), (Platform::Ios, phone)] {
            let expected = expected.iter().cloned();
            let expected = expected.map(|(tool, arguments)| (tool.to_owned(), arguments));
            assert_eq!(calls(platform, &action), Ok(expected.collect()));
        }
    }

    #[test]
    fn an_action_is_the_platforms_own_tool() {
        let at = json!({ "ref": "e4" });
        comes_to(
            json!({ "action": "tap", "role": "button", "name": "Add" }),
            &[("web_click", at.clone())],
            &[("tap", at.clone())],
        );
        let text = json!({ "text": "x" });
        comes_to(
            json!({ "action": "type", "ref": "e4", "value": "x" }),
            &[("web_type", json!({ "ref": "e4", "text": "x" }))],
            &[("tap", at), ("clearText", json!({})), ("inputText", text)],
        );
        comes_to(
            json!({ "action": "press", "value": "Back" }),
            &[("web_navigate", json!({ "action": "BACK" }))],
            &[("pressBack", json!({}))],
        );
        let swipe = json!({ "direction": "UP", "swipeOnElementText": "Rows" });
        comes_to(
            json!({ "action": "swipe", "value": "up", "text": "Rows" }),
            &[("web_scroll", json!({ "ref": "e4", "direction": "DOWN" }))],
            &[("swipe", swipe)],
        );
        let app = [("launchApp", json!({ "appId": "a" }))];
        let open = json!({ "tool": "launchApp", "args": { "lease": "x", "appId": "a" } });
        comes_to(open, &app, &app);
    }

    #[test]
    fn what_makes_no_sense_is_said_in_words() {
        let long = format!(
            r#"{{ "action": "tap", "text": "{}" }}"#,
            "x".repeat(MAX_TEXT + 1)
        );
        for (action, words) in [
            ("{}", "expected either `action` or `tool`"),
            (r#"{ "action": "tap", "tool": "tap" }"#, "expected either"),
            (r#"{ "action": "tap" }"#, "tap needs an element"),
            (
                r#"{ "action": "tap", "ref": "a", "value": "x" }"#,
                "takes no `value`",
            ),
            (
                r#"{ "action": "tap", "ref": "a", "gone": true }"#,
                "takes no `gone`",
            ),
            (
                r#"{ "action": "type", "ref": "e4" }"#,
                "type e4 needs `value`",
            ),
            (r#"{ "action": "swipe", "value": "in" }"#, "swipe takes up"),
            (
                r#"{ "action": "expect", "ref": "a", "gone": true }"#,
                "takes `role`",
            ),
            (
                r#"{ "action": "select", "ref": "a", "value": "x" }"#,
                "is for pages",
            ),
            (r#"{ "tool": "tap", "ref": "e4" }"#, "in `args`"),
            (
                r#"{ "action": "press", "value": "x", "ref": "a" }"#,
                "takes no element",
            ),
            (&long, "a text has more"),
        ] {
            let action = serde_json::from_str(action).unwrap();
            let told = calls(Platform::Android, &action).unwrap_err();
            assert!(told.contains(words), "{told}");
        }
    }
}
