// The sign-up tool in plain Node, without a dependency: JSON-RPC, one message a line, over standard
// input and output. Calls run at the same time; a cancelled one stops and is not answered.
import { createInterface } from "node:readline";

const tool = {
  name: "shop_signUpNode",
  description: "Creates an account in the shop, from the sign-in screen.",
  inputSchema: {
    type: "object",
    properties: { name: { type: "string" }, email: { type: "string" } },
    required: ["name", "email"],
  },
  _meta: { "trailblaze/supportedPlatforms": ["android", "ios", "web"], "trailblaze/requiresContext": true },
};

/** Carries a typed command out on the device of this invocation; the connection is kept alive. */
const commands = ({ baseUrl, invocationId }, signal) => async (name, request) => {
  const headers = { "content-type": "application/json", authorization: `Bearer ${invocationId}` };
  const body = JSON.stringify(request);
  const response = await fetch(new URL(`/packtrain.v1.Commands/${name}`, baseUrl), { method: "POST", signal, headers, body });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer;
};

async function signUp({ name, email }, context, signal) {
  if (!context) throw new Error("needs a device: there is no _meta.trailblaze");
  const command = commands(context, signal);
  await command("Tap", { text: "Create account" });
  await command("Tap", { text: "Full name" });
  await command("InputText", { text: name });
  await command("Tap", { text: "Email" });
  await command("InputText", { text: email });
  await command("Tap", { text: "Sign up" });
  await command("AssertVisible", { text: `Welcome, ${name}` });
  return `Signed up ${name}`;
}

const versions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const refuse = (code, message) => { throw Object.assign(new Error(message), { code }); };
const methods = {
  initialize: ({ protocolVersion: asked }) => ({
    protocolVersion: versions.includes(asked) ? asked : versions[0],
    capabilities: { tools: {} },
    serverInfo: { name: "signup-node", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": async ({ name, arguments: args, _meta }, signal) => {
    if (name !== tool.name) refuse(-32602, `Unknown tool: ${name}`);
    try {
      return { content: [{ type: "text", text: await signUp(args, _meta?.trailblaze, signal) }] };
    } catch (error) {
      return { content: [{ type: "text", text: error.message }], isError: true };
    }
  },
};

const running = new Map();
createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "notifications/cancelled") running.get(params.requestId)?.abort();
  if (id === undefined) return;
  const cancelled = new AbortController();
  running.set(id, cancelled);
  let answer;
  try {
    const run = methods[method] ?? (() => refuse(-32601, `Unknown method: ${method}`));
    answer = { result: await run(params ?? {}, cancelled.signal) };
  } catch ({ code = -32603, message }) {
    answer = { error: { code, message } };
  }
  running.delete(id);
  if (!cancelled.signal.aborted) process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
});
