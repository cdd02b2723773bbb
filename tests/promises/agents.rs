//! Agents and the daemon that serves them: the real program, by pipes and over HTTP, in both of the
//! protocol's eras, each with virtual phones of its own.

mod act;
mod answers;
mod by_hand;
mod crowd;
mod deaths;
mod disk;
mod fences;
mod files;
mod lent;
mod life;
mod list;
mod names;
mod place;
mod project;
mod queue;
mod runs;
mod shop;
mod sources;
mod tasks;
mod two_projects;

use packtrain_tests::agent_lab::{Agent, AgentLab, Called};
use serde_json::{Value, json};

/// An app of one screen with one field, and below it what is in it.
const NOTE: &str = r#"
app: { id: { android: com.example.note, ios: com.example.note }, name: Note, start: note }
state: { note: "" }
screens:
  note:
    elements:
      - { id: note, role: input, hint: Note, bind: note, frame: [24, 24, 312, 56] }
      - { id: shown, role: text, text: "<${note}>", frame: [24, 100, 312, 56] }
"#;

/// A lab with a configuration.
fn configured(config: &str) -> AgentLab {
    let lab = AgentLab::new(env!("CARGO_BIN_EXE_packtrain-under-test"), config);
    lab.lab().write("app.yaml", NOTE);
    lab
}

/// The configuration of so many Android phones that show the app of one field.
fn phones(count: usize) -> String {
    format!("devices: {{ virtual: {{ android: {count}, app: app.yaml, profile: fast }} }}\n")
}

/// A lab with so many phones.
fn lab(count: usize) -> AgentLab {
    configured(&phones(count))
}

fn phone(number: usize) -> String {
    format!("android/virtual-{number}")
}

/// Opens the app and types into its field.
#[track_caller]
fn types(agent: &Agent, lease: &str, text: &str) {
    opens(agent, lease);
    agent.does("inputText", json!({ "lease": lease, "text": text }));
}

/// Opens the app with its field ready to be typed into.
#[track_caller]
fn opens(agent: &Agent, lease: &str) {
    let app = json!({ "lease": lease, "appId": "com.example.note" });
    agent.does("launchApp", app);
    let seen = sees(agent, lease);
    let field = seen.lines().find(|line| line.contains("EditText")).unwrap();
    let reference = field.split(['[', ']']).nth(1).unwrap();
    agent.does("tap", json!({ "lease": lease, "ref": reference }));
}

#[track_caller]
fn sees(agent: &Agent, lease: &str) -> String {
    agent.does("snapshot", json!({ "lease": lease })).text
}

/// What an agent is refused, in words.
#[track_caller]
fn refused(called: Called) -> String {
    assert!(called.is_error, "{called:?}");
    called.text
}

/// A device as an agent sees it in the list.
#[track_caller]
fn listed(agent: &Agent, device: &str) -> Value {
    let listed = agent.does("device_list", json!({})).data;
    let mut devices = listed["devices"].as_array().unwrap().iter();
    let found = devices.find(|listed| listed["device"] == device);
    found.unwrap().clone()
}

/// A trail that opens the app, types into it, and stays for so long.
fn typing_trail(lab: &AgentLab, name: &str, seconds: u32) -> String {
    let path = format!("trails/{name}.trail.yaml");
    let calls = [
        "launchApp: { appId: com.example.note }".to_owned(),
        "tapOnElementWithText: { text: Note }".to_owned(),
        "inputText: { text: of-the-run }".to_owned(),
        format!("wait: {{ timeToWaitInSeconds: {seconds} }}"),
    ];
    // None at all is not a call.
    let calls = &calls[..calls.len() - usize::from(seconds == 0)];
    let calls: Vec<_> = calls
        .iter()
        .map(|call| format!("        - {call}\n"))
        .collect();
    let calls = calls.concat();
    let step = format!("  - step: Type\n    recording:\n      android:\n{calls}");
    lab.lab()
        .write(&path, &format!("config: {{ id: {name} }}\ntrail:\n{step}"));
    path
}

/// Says something that is shown when the test fails, or with `--nocapture`.
#[expect(clippy::print_stdout, reason = "it is what the test harness shows")]
fn note(what: &str) {
    println!("{what}");
}
