//! What tool sources find among their arguments.

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
    assert!(
        junit.contains("call 2 of") && junit.contains("_trailblazeContext"),
        "{junit}"
    );
}

#[test]
fn a_tool_that_shows_its_arguments_when_it_fails_is_called_once() {
    let (lab, _) = called_twice("acme_dumps", 1);
    let junit = lab.read(lab.run_folder().join("junit.xml"));
    assert!(junit.contains("call 1 failed with"), "{junit}");
    assert!(!junit.contains("call 2"), "{junit}");
}
