// The client that the protocol's conformance suite tests: for a scenario it has Packtrain, which is
// $PACKTRAIN_UNDER_TEST, make the calls that the scenario wants of the server at the last argument.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const protocol = process.env.PACKTRAIN_TEST_PROTOCOL;

// What a trail calls. Any other scenario is content with a connection and a look at the tools.
const plain = (...names) => names.map((name) => ({ name, arguments: {} }));
const calls = context.toolCalls ?? {
  tools_call: [{ name: "add_numbers", arguments: { a: 5, b: 3 } }],
  "elicitation-sep1034-client-defaults": plain("test_client_elicitation_defaults"),
  "sse-retry": plain("test_reconnection"),
  "sep-2322-client-request-state": plain("test_mrtr_echo_state", "test_mrtr_unrelated", "test_mrtr_no_state", "test_mrtr_no_result_type"),
  "http-standard-headers": plain("test_headers", "my-hyphenated-tool"),
  "http-invalid-tool-headers": [{ name: "valid_tool", arguments: { region: "us-west1" } }],
}[scenario] ?? [];

// Names that must be no tools: those whose definitions a client has to leave out.
const faults = ["empty_header", "object_header", "array_header", "null_header", "number_header", "duplicate_same_case",
  "duplicate_diff_case", "space_in_name", "colon_in_name", "non_ascii_name", "control_char_name"];
const absent = scenario === "http-invalid-tool-headers" ? faults.map((fault) => `invalid_${fault}`)
  : calls.length === 0 ? ["no_such_tool"] : [];

const folder = mkdtempSync(join(tmpdir(), "conformance-"));
const packtrain = (...args) => new Promise((resolve) => {
  const env = { ...process.env, XDG_CONFIG_HOME: folder, NO_COLOR: "1" };
  spawn(process.env.PACKTRAIN_UNDER_TEST, args, { cwd: folder, env, stdio: ["ignore", "inherit", "inherit"] })
    .on("close", resolve);
});

// JSON is YAML.
writeFileSync(join(folder, "packtrain.yaml"), JSON.stringify({
  devices: { virtual: { profile: "fast" } },
  mcpServers: [{ name: "conformance", url, protocol }],
}));
const recording = { android: calls.map((call) => ({ [call.name]: call.arguments })) };
writeFileSync(join(folder, "calls.trail.yaml"), JSON.stringify({ trail: [{ step: "The calls", recording }] }));

const device = ["-d", "virtual:android"];
const ended = [];
if (calls.length > 0) ended.push(await packtrain("run", "calls.trail.yaml", ...device, "--screenshots=none") === 0);
// 3: there is no such tool.
for (const name of absent) ended.push(await packtrain("tool", name, ...device) === 3);
rmSync(folder, { recursive: true });
process.exitCode = ended.every(Boolean) ? 0 : 1;
