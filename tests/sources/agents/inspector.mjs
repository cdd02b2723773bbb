// An agent that is the MCP Inspector's command line. `mcp-inspector --cli` makes a connection for each
// word it says; `mcpdo`, of the same package, keeps one in a process of its own, which ends with the turn.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { era, target, turn } from "./turn.mjs";

// How the Inspector ends when the tool says that it failed.
const TOOL_FAILED = 5;
const bin = join(import.meta.dirname, "node_modules/.bin");
const run = (program, args) => new Promise((resolve, reject) => {
  const child = spawn(process.execPath, [join(bin, program), ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "", err = "";
  child.stdout.on("data", (chunk) => out += chunk);
  child.stderr.on("data", (chunk) => err += chunk);
  child.on("close", (code) => resolve({ code, out, err }));
  child.on("error", reject);
});
const must = async (program, args) => {
  const { code, out, err } = await run(program, args);
  if (code !== 0 && code !== TOOL_FAILED) throw new Error(`${program} ${args.join(" ")}: ${code}\n${out}\n${err}`);
  return JSON.parse(out);
};

const env = Object.entries(target.env ?? {}).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
const where = target.url
  ? [target.url, "--transport", "http", "--header", `Authorization: Bearer ${target.token}`]
  : [...env, "--", target.command, ...target.args];

const cli = (...words) => must("mcp-inspector", ["--cli", "--format", "json", "--protocol-era", era, ...words, ...where]);
const { result } = await cli("--method", "initialize");
// `--strict`: schemas that some model's API would refuse are errors.
await cli("--method", "tools/list", "--strict");

const keep = (...words) => must("mcpdo", ["--format", "json", ...words]);
try {
  const connection = (await keep("connect", "--era", era, "--elicit", "off", ...where)).name;
  const on = (...words) => keep("--connection", connection, ...words);
  await turn({
    tools: (await on("tools/list")).tools,
    version: result.protocolVersion,
    call: (name, args) => on("tools/call", name, JSON.stringify(args)),
  });
} finally {
  await run("mcpdo", ["daemon", "stop"]);
}
