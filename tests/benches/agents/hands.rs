//! What the hands of an agent cost: the example shop bought in on a page, with one action a call and with
//! several, and one look, against a published server for browsers.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::client::Agent;

/// An action an agent takes at an element that it was shown.
#[derive(Clone, Copy)]
enum Step {
    Type(&'static str, &'static str),
    Tap(&'static str),
    /// What comes next has to be seen first.
    See,
}

use Step::{See, Tap, Type};

const STEPS: [Step; 14] = [
    Type("Email", "ada@example.com"),
    Type("Password", "secret"),
    Tap("Sign in"),
    See,
    Tap("Add"),
    Tap("Cart"),
    See,
    Tap("Checkout"),
    See,
    Type("Full name", "Ada Lovelace"),
    Type("Address", "12 St James's Square"),
    Tap("Place order"),
    See,
    Tap("Place order"),
];
const THANKS: &str = "Thank you";

/// How an agent does what it does; all that it was told, and how much was said.
pub(super) struct Hands<'a> {
    agent: &'a mut Agent,
    told: Vec<String>,
    pub(super) calls: usize,
    pub(super) characters: usize,
}

impl<'a> Hands<'a> {
    pub(super) fn of(agent: &'a mut Agent) -> Self {
        Self {
            agent,
            told: Vec::new(),
            calls: 0,
            characters: 0,
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> String {
        self.calls += 1;
        self.characters += arguments.to_string().len();
        let answer = self.agent.call(tool, arguments);
        assert!(answer["isError"] != true, "{tool}: {answer}");
        let parts = answer["content"].as_array().unwrap().iter();
        let texts: Vec<_> = parts.filter_map(|part| part["text"].as_str()).collect();
        let text = texts.join("\n");
        self.characters += text.len();
        self.told.push(text.clone());
        text
    }

    /// Milliseconds from the address to the thanks; `together` are as many actions in a call as can be.
    pub(super) fn ours(&mut self, lease: &str, url: &str, together: bool) -> f64 {
        let begun = Instant::now();
        self.told.clear();
        let open = json!({ "tool": "web_navigate", "args": { "url": url } });
        self.call("act", json!({ "lease": lease, "actions": [open] }));
        let mut actions = Vec::new();
        for step in STEPS.iter().chain([&See]) {
            match *step {
                Type(label, text) => {
                    let reference = self.listed(label);
                    actions.push(json!({ "action": "type", "ref": reference, "value": text }));
                }
                // What it holds is a part of its name.
                Tap("Cart") => {
                    actions.push(json!({ "action": "tap", "role": "link", "name": "Cart" }))
                }
                Tap(label) => actions.push(json!({ "action": "tap", "ref": self.listed(label) })),
                See => {}
            }
            if !actions.is_empty() && (!together || matches!(step, See)) {
                let actions = std::mem::take(&mut actions);
                self.call("act", json!({ "lease": lease, "actions": actions }));
            }
        }
        let last = self.told.last().unwrap();
        assert!(last.contains(THANKS), "{last}");
        begun.elapsed().as_secs_f64() * 1e3
    }

    /// The reference of what was last shown by that name.
    fn listed(&self, label: &str) -> String {
        let called = named(label);
        let newest = self.told.iter().rev();
        let mut lines = newest.flat_map(|told| told.lines());
        let is_it =
            |line: &&str| !line.starts_with('-') && line.contains('[') && line.contains(&called);
        let line = lines
            .find(is_it)
            .unwrap_or_else(|| panic!("{label}: {:?}", self.told));
        line.split(['[', ']']).nth(1).unwrap().to_owned()
    }

    /// The same by the published server, whose actions take one element each.
    pub(super) fn theirs(&mut self, url: &str) -> f64 {
        let begun = Instant::now();
        self.call("browser_navigate", json!({ "url": url }));
        let mut seen = self.call("browser_snapshot", json!({}));
        for step in STEPS {
            match step {
                Type(label, text) => {
                    let target = referred(&seen, label);
                    self.call("browser_type", json!({ "target": target, "text": text }));
                }
                Tap(label) => {
                    if label == "Cart" {
                        // A reference is lost when its element is called otherwise.
                        seen = self.call("browser_snapshot", json!({}));
                    }
                    let target = referred(&seen, label);
                    self.call("browser_click", json!({ "target": target }));
                }
                See => seen = self.call("browser_snapshot", json!({})),
            }
        }
        let last = self.call("browser_snapshot", json!({}));
        assert!(last.contains(THANKS), "{last}");
        begun.elapsed().as_secs_f64() * 1e3
    }
}

/// Their reference of an element. A dialog comes behind what it covers.
fn referred(seen: &str, label: &str) -> String {
    let called = named(label);
    let mut lines = seen.lines();
    let is_it = |line: &&str| line.contains(&called) && line.contains("[ref=");
    let line = match label {
        "Place order" => lines.rfind(is_it),
        _ => lines.find(is_it),
    };
    let line = line.unwrap_or_else(|| panic!("{label}: {seen}"));
    let (_, reference) = line.split_once("[ref=").unwrap();
    reference.split(']').next().unwrap().to_owned()
}

/// A name as a list has it. How many the cart holds is a part of its.
fn named(label: &str) -> String {
    match label {
        "Cart" => format!(" \"{label}"),
        label => format!(" \"{label}\""),
    }
}
