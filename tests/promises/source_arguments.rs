//! What tool sources find among their arguments.

use packtrain_testing::has;
use packtrain_tests::Lab;

use crate::lab;

/// Counts calls. `acme_strict` knows no argument; `acme_fails` does not mind any, and from its second
/// call on says which it had.
const SERVER: &str = r#"
import { createInterface } from "node:readline";
const inputSchema = { type: "object" };
const text = (text, isError = false) => ({ content: [{ type: "text", text }], isError });
let calls = 0;
const answers = {
  initialize: () => ({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "a", version: "1" } }),
  "tools/list": () => ({ tools: ["acme_strict", "acme_fails", "acme_dumps"].map((name) => ({ name, inputSchema })) }),
  "tools/call": ({ name, arguments: given }) => {
    calls += 1;
    const [extra] = Object.keys(given);
    if (name === "acme_strict") return extra ? text(`Unrecognized key: ${extra}`, true) : text(`call ${calls}`);
    if (name === "acme_dumps") return text(`call ${calls} failed with ${JSON.stringify(given)}`, true);
    return calls > 1 ? text(`call ${calls} of ${JSON.stringify(given)}`, true) : text(`call ${calls}`);
  },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = (answers[method] ?? (() => ({})))(params);
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\n");
});
"#;

/// What two calls of a tool in one trail were answered.
fn called_twice(tool: &str, code: i32) -> (Lab, Vec<String>) {
    let lab = lab();
    let call = format!("        - {tool}: {{}}\n");
    let trail = format!("trail:\n  - step: x\n    recording:\n      android:\n{call}{call}");
    lab.write("a.trail.yaml", &trail)
        .write("server.mjs", SERVER)
        .write(
            "packtrain.yaml",
            "devices: { virtual: { profile: fast } }\nmcpServers: [{ script: server.mjs, transport: stdio }]\n",
        );
    let arguments = [
        "run",
        "a.trail.yaml",
        "-d",
        "virtual:android",
        "--screenshots=none",
    ];
    lab.run(&arguments).expect(code);
    let events = lab.events();
    let ended = events
        .iter()
        .filter(|event| event["event"] == "tool_finished");
    let answers = ended.map(|event| event["answer"].as_str().unwrap_or_default().to_owned());
    let answers = answers.collect();
    (lab, answers)
}

#[test]
fn a_tool_that_refuses_the_session_among_its_arguments_is_called_without_it() {
    let (_, answers) = called_twice("acme_strict", 0);
    assert_eq!(answers, ["call 2", "call 3"]);
}

#[test]
fn a_tool_that_has_taken_the_session_is_never_called_again_for_it() {
    let (lab, _) = called_twice("acme_fails", 1);
    let junit = lab.read(lab.run_folder().join("junit.xml"));
    has(&junit, &["call 2 of", "_trailblazeContext"]);
}

#[test]
fn a_tool_that_shows_its_arguments_when_it_fails_is_called_once() {
    let (lab, _) = called_twice("acme_dumps", 1);
    let junit = lab.read(lab.run_folder().join("junit.xml"));
    assert!(junit.contains("call 1 failed with"), "{junit}");
    assert!(!junit.contains("call 2"), "{junit}");
}

/// `acme_open` names no argument, `acme_compare` two.
const NAMES: &str = r#"
import { createInterface } from "node:readline";
const named = { type: "object", properties: { actual: { type: "string" }, expect: { type: "string" } }, required: ["expect"] };
const answers = {
  initialize: () => ({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "a", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "acme_open", inputSchema: { type: "object" } }, { name: "acme_compare", inputSchema: named }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "called" }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = (answers[method] ?? (() => ({})))(params);
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\n");
});
"#;

#[test]
fn an_argument_that_a_sources_tool_does_not_have_is_refused_in_a_step_and_by_check() {
    let lab = lab();
    let step =
        |call: &str| format!("  - step: x\n    recording:\n      android:\n        - {call}\n");
    let open = step("acme_open: { anything: 1 }");
    let slip = step("acme_compare: { actual: a, expect: b, exepct: c }");
    lab.write("server.mjs", NAMES)
        .write("a.trail.yaml", &format!("trail:\n{open}{slip}"))
        .write("b.trail.yaml", &format!("trail:\n{}", step("zulu_unheard: {}")))
        .write(
            "packtrain.yaml",
            "devices: { virtual: { profile: fast } }\nmcpServers: [{ script: server.mjs, transport: stdio }]\n",
        );
    let run = [
        "run",
        "a.trail.yaml",
        "-d",
        "virtual:android",
        "--screenshots=none",
    ];
    let said = lab.run(&run).expect(1).stderr;
    for part in ["unknown argument `exepct`", "did you mean `expect`?"] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    let events = lab.events();
    let passed = |event: &&serde_json::Value| {
        event["event"] == "tool_finished" && event["outcome"] == "passed"
    };
    assert_eq!(events.iter().filter(passed).count(), 1);
    let said = lab
        .run(&["check", "--tools", "a.trail.yaml", "b.trail.yaml"])
        .expect(3)
        .stderr;
    let expected = [
        "unknown argument `exepct` of `acme_compare`",
        "did you mean `expect`?",
        "unknown tool `zulu_unheard`",
        "no tool source has this one",
        "2 mistakes, 0 warnings",
    ];
    for part in expected {
        assert!(said.contains(part), "{part}\n{said}");
    }
}
