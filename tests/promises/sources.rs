//! Tool sources: a call goes to its server, and whatever the server calls back goes to the device of
//! that call. Servers in plain Node, written by the tests, ask the true endpoint for everything that
//! it has to answer; two servers are made with published SDKs.

mod commands;
mod contract;
mod envelope;
mod example;
mod metadata;
mod nesting;
mod refusals;
mod results;
mod routing;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use packtrain_testing::has;
use packtrain_tests::{Lab, repository};
use serde_json::{Value, json};

use crate::lab;

/// An app of one screen with one field, and below it what is in it.
const APP: &str = r#"
app: { id: { android: com.example.note, ios: com.example.note }, name: Note, start: note }
state: { note: "" }
screens:
  note:
    elements:
      - { id: note, role: input, hint: Note, bind: note, frame: [24, 24, 312, 56] }
      - { id: shown, role: text, text: "<${note}>", frame: [24, 100, 312, 56] }
"#;

/// A source whose tools are written in JavaScript, for `serve` of tests/sources/raw.mjs.
struct Raw<'a> {
    name: &'a str,
    /// What `serve` is given.
    tools: &'a str,
    /// More keys of its entry in the configuration: `, hostCommands: true`.
    keys: &'a str,
}

impl<'a> Raw<'a> {
    const fn new(name: &'a str, tools: &'a str) -> Self {
        let keys = "";
        Self { name, tools, keys }
    }
}

/// A workspace with virtual phones that show the app of one field, and these sources.
fn workspace(sources: &[Raw<'_>]) -> Lab {
    let lab = lab();
    lab.write("app.yaml", APP);
    let raw = repository().join("tests/sources/raw.mjs");
    let entries: String = sources
        .iter()
        .map(|Raw { name, tools, keys }| {
            let file = lab.folder().join(format!("{name}.mjs"));
            lab.write(
                &format!("{name}.mjs"),
                &format!(
                    "import {{ ask, body, call, command, fetched, must, post, request, serve }} from {raw:?};\nserve({tools});\n"
                ),
            );
            format!("  - {{ name: {name}, command: [node, {file:?}], transport: stdio{keys} }}\n")
        })
        .collect();
    configure(&lab, &entries);
    lab
}

/// Configures phones that do not dawdle, and these entries of `mcpServers`.
fn configure(lab: &Lab, entries: &str) {
    let phones = "devices: { virtual: { app: app.yaml, profile: fast } }\n";
    lab.write("packtrain.yaml", &format!("{phones}mcpServers:\n{entries}"));
}

/// Writes a trail that opens the app and makes these calls, a step each.
fn trail(lab: &Lab, config: &str, calls: &[&str]) {
    let opening = [
        "launchApp: { appId: com.example.note }",
        "tapOnElementWithText: { text: Note }",
    ];
    let steps: String = (opening.iter().chain(calls))
        .map(|call| {
            format!(
                "  - step: x\n    recording:\n      android:\n        - {call}\n      ios:\n        - {call}\n"
            )
        })
        .collect();
    lab.write(
        "a.trail.yaml",
        &format!("config: {config}\ntrail:\n{steps}"),
    );
}

/// Runs the trail; answers what is said of it. No process of a source is left.
#[track_caller]
fn run(lab: &Lab, devices: &str, code: i32) -> String {
    let flags = ["run", "a.trail.yaml", "--screenshots=none", "-d", devices];
    let ended = lab.run(&flags).expect(code);
    nothing_runs(lab);
    ended.stderr
}

/// Calls a tool on an Android phone; answers what it printed.
#[track_caller]
fn said(lab: &Lab, tool: &str) -> String {
    let ended = lab.run(&["tool", tool, "-d", "virtual:android"]).expect(0);
    nothing_runs(lab);
    ended.stdout.trim_end().to_owned()
}

/// The same, as JSON.
#[track_caller]
fn answer(lab: &Lab, tool: &str) -> Value {
    let said = said(lab, tool);
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"))
}

#[track_caller]
pub(crate) fn nothing_runs(lab: &Lab) {
    let left = running(lab);
    assert!(left.is_empty(), "{left:?}");
}

/// Processes that are of a workspace, with their command lines.
#[track_caller]
pub(crate) fn running(lab: &Lab) -> Vec<(u32, String)> {
    let ours = packtrain_testing::processes_of(lab.folder()).into_iter();
    // What has ended and was not waited for yet has no words left.
    let alive = ours.filter(|one| !one.line.is_empty());
    alive.map(|one| (one.pid, one.line)).collect()
}

/// What was called and how deep, in order.
fn calls(lab: &Lab) -> Vec<(u64, String)> {
    let events = lab.events();
    let started = events
        .iter()
        .filter(|event| event["event"] == "tool_started");
    started
        .map(|event| {
            let tool = event["tool"].as_str().unwrap().to_owned();
            (event["depth"].as_u64().unwrap(), tool)
        })
        .collect()
}

/// The texts that were typed, in order, by every caller.
fn typed(lab: &Lab) -> Vec<String> {
    let events = lab.events();
    let typing = |event: &&Value| event["event"] == "tool_started" && event["tool"] == "inputText";
    let texts = events
        .iter()
        .filter(typing)
        .map(|event| &event["arguments"]["text"]);
    texts
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

/// A call that expects the field to hold this and nothing else.
fn shows(text: &str) -> String {
    format!("assertVisibleWithText: {{ text: \"<{text}>\" }}")
}

/// Where `sh tests/run.sh` put what the tests of tool sources start.
pub(crate) fn installed() -> PathBuf {
    std::env::var_os("PACKTRAIN_TEST_SOURCES")
        .expect("PACKTRAIN_TEST_SOURCES is not set: `sh tests/run.sh` installs what it names")
        .into()
}

/// Lets sources in a workspace import what is installed.
pub(crate) fn link_modules(lab: &Lab) {
    let modules = installed().join("node_modules");
    std::os::unix::fs::symlink(modules, lab.folder().join("node_modules")).unwrap();
}

/// A folder of a Python with FastMCP.
pub(crate) fn fastmcp() -> PathBuf {
    let folder = installed().parent().unwrap().join("test-venv-fastmcp3/bin");
    assert!(folder.is_dir(), "no {}: sh tests/run.sh", folder.display());
    folder
}

/// A refusal that names no live invocation, for clients of either kind.
fn unknown(id: &str) -> Value {
    json!({
        "status": 200,
        "result": { "type": "error", "message": format!("Invocation {id} not found or no longer in flight") },
        "error": {
            "code": -32602,
            "message": format!("Unknown invocation ID: {id}. The tool call may have completed or timed out."),
        },
    })
}

/// What a tool is told of a callback that its tool failed.
fn failed(message: &str) -> Value {
    let result = json!({ "type": "call_tool_result", "success": false, "error_message": message });
    json!({ "status": 200, "result": result })
}

/// Copies a folder, but not what was installed or run in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if entry.path().is_file() {
            std::fs::copy(entry.path(), to.join(name)).unwrap();
        } else if name != "node_modules" && name != ".packtrain" {
            copy(&entry.path(), &to.join(name));
        }
    }
}

/// The example of sources in three languages beside its shop, ready to be run in `signup`, and the
/// search path that has its Python.
pub(crate) fn signup_example() -> (Lab, OsString) {
    let lab = lab();
    for example in ["signup", "shop"] {
        let from = repository().join("examples").join(example);
        copy(&from, &lab.folder().join(example));
    }
    link_modules(&lab);
    let path = std::env::var_os("PATH").unwrap();
    let path = std::iter::once(fastmcp()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(path).unwrap();
    (lab, path)
}
