//! The example shop, bought in by an agent that knows only what it was told: a few calls on each platform.

use packtrain_tests::agent_lab::{Agent, AgentLab};
use packtrain_tests::repository;
use serde_json::{Value, json};

use super::note;

/// From taking the device to giving it back.
const MAX_CALLS: usize = 8;

/// The example's phones and pages, in a lab.
fn shop() -> AgentLab {
    let example = repository().join("examples/shop");
    let lab = AgentLab::new(env!("CARGO_BIN_EXE_packtrain-under-test"), "");
    let copy = |file: &str| {
        let text = std::fs::read_to_string(example.join(file)).unwrap();
        lab.lab().write(file, &text);
    };
    copy("app.yaml");
    for file in std::fs::read_dir(example.join("web")).unwrap() {
        let name = file.unwrap().file_name();
        copy(&format!("web/{}", name.to_str().unwrap()));
    }
    // An agent opens what lies below the address that the configuration names.
    let base = format!(
        "file://{}/web/",
        lab.lab().folder().canonicalize().unwrap().display()
    );
    lab.lab().write(
        "packtrain.yaml",
        &format!(
            "devices:\n  virtual: {{ app: app.yaml, android: 1, ios: 1, profile: fast }}\n  \
             web:\n    desktop: {{ viewport: 1280x800, baseUrl: {base:?} }}\n"
        ),
    );
    lab
}

/// Who buys, with what it was told last.
struct Shopper<'a> {
    agent: &'a Agent,
    lease: String,
    seen: String,
    calls: usize,
    characters: usize,
}

impl Shopper<'_> {
    fn acts(&mut self, actions: &[Value]) {
        let asked = json!({ "lease": self.lease, "actions": actions });
        self.characters += asked.to_string().len();
        self.seen = self.agent.does("act", asked).text;
        self.characters += self.seen.len();
        self.calls += 1;
    }

    /// The first element that was shown with a label that begins so: `[h147] EditText "Email"`.
    #[track_caller]
    fn reference(&self, label: &str) -> String {
        let called = format!(" \"{label}");
        let mut lines = self.seen.lines();
        // What has gone is told with a minus.
        let found = lines.find(|line| !line.starts_with('-') && line.contains(&called));
        let line = found.unwrap_or_else(|| panic!("{label}: {}", self.seen));
        line.split(['[', ']']).nth(1).unwrap().to_owned()
    }

    fn tap(&self, label: &str) -> Value {
        json!({ "action": "tap", "ref": self.reference(label) })
    }

    fn typing(&self, label: &str, text: &str) -> Value {
        json!({ "action": "type", "ref": self.reference(label), "value": text })
    }
}

#[track_caller]
fn buys(device: &str) {
    let lab = shop();
    let agent = lab.stdio("shopper");
    let is_web = device.starts_with("web/");
    let open = if is_web {
        "index.html"
    } else {
        "com.example.shop"
    };
    let taken = agent.does("device_acquire", json!({ "device": device, "open": open }));
    let mut shopper = Shopper {
        agent: &agent,
        lease: taken.data["lease"].as_str().unwrap().to_owned(),
        characters: taken.text.len(),
        seen: taken.text,
        calls: 1,
    };
    shopper.acts(&[
        shopper.typing("Email", "ada@example.com"),
        shopper.typing("Password", "secret"),
        shopper.tap("Sign in"),
    ]);
    if !is_web {
        shopper.acts(&[shopper.tap("Allow\"")]);
    }
    // How many it holds is part of its name, which will be another one.
    assert!(shopper.seen.contains(" \"Cart"), "{}", shopper.seen);
    let cart = json!({ "action": "tap", "name": "Cart" });
    shopper.acts(&[shopper.tap("Add\""), cart]);
    shopper.acts(&[shopper.tap("Checkout")]);
    shopper.acts(&[
        shopper.typing("Full name", "Ada Lovelace"),
        shopper.typing("Address", "12 St James's Square"),
        shopper.tap("Place order"),
    ]);
    // The dialog's is the last that was shown.
    assert!(shopper.seen.contains("You pay $2.50"), "{}", shopper.seen);
    shopper.acts(&[shopper.tap("Place order\"")]);
    let thanks = "Your order is on its way, Ada Lovelace.";
    assert!(shopper.seen.contains(thanks), "{}", shopper.seen);
    agent.does("device_release", json!({ "lease": shopper.lease }));
    let (calls, characters) = (shopper.calls + 1, shopper.characters);
    note(&format!("{device}: {calls} calls, {characters} characters"));
    assert!(calls <= MAX_CALLS, "{calls}");
}

#[test]
fn the_shop_is_bought_in_on_android_in_eight_calls() {
    buys("android/virtual-1");
}

#[test]
fn the_shop_is_bought_in_on_an_iphone_in_eight_calls() {
    buys("ios/virtual-1");
}

#[test]
fn the_shop_is_bought_in_on_a_page_in_eight_calls() {
    buys("web/desktop");
}
