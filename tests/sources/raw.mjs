// A tool source in plain Node, with nothing installed: a test writes the tools, this the wire. On
// standard input and output, or with `--transport http --port N` as streamable HTTP that answers in
// JSON. A tool is { name, inputSchema?, _meta?, call({ args, meta, on, signal }) }; what `call`
// answers is a text, or a whole result.
import http from "node:http";
import { createInterface } from "node:readline";

const agent = new http.Agent({ keepAlive: true });

/** Makes a request to the callback endpoint; `body` is sent as it is, in one piece or in chunks. */
export function request(on, { body = "", headers = {}, chunks = false, path = "/scripting/callback" }) {
  const bytes = Buffer.from(body);
  const length = chunks ? { "transfer-encoding": "chunked" } : { "content-length": bytes.length };
  return new Promise((resolve, reject) => {
    const options = { method: "POST", agent, headers: { "content-type": "application/json", ...length, ...headers } };
    const sent = http.request(new URL(path, on.baseUrl), options, (response) => {
      let text = "";
      response.on("data", (data) => (text += data));
      response.on("end", () => resolve({ status: response.statusCode, text }));
    });
    sent.on("error", reject);
    sent.end(bytes);
  });
}

/** The body of a callback, with what is given changed. */
export const body = (on, tool, args = {}, changes = {}) => ({
  version: 1,
  session_id: on.sessionId,
  invocation_id: on.invocationId,
  action: { type: "call_tool", tool_name: tool, arguments_json: JSON.stringify(args) },
  ...changes,
});

/** Sends a body and answers status and JSON. */
export async function post(on, what) {
  const { status, text } = await request(on, { body: JSON.stringify(what) });
  return { status, ...(status === 200 ? JSON.parse(text) : { text }) };
}

/** Calls a tool on the device of the call, and answers its `result`. */
export const call = async (on, tool, args = {}) => (await post(on, body(on, tool, args))).result;

/** The same; what is no success is thrown. */
export async function must(on, tool, args = {}) {
  const result = await call(on, tool, args);
  if (!result.success) throw new Error(`${tool}: ${result.error_message ?? result.message}`);
  return result.structured_content ?? result.text_content;
}

/** Has a typed command carried out, and answers status and body. */
export async function command(on, name, asked = {}, { headers = {}, body = JSON.stringify(asked) } = {}) {
  const path = `/packtrain.v1.Commands/${name}`;
  const bearer = { authorization: `Bearer ${on.invocationId}`, "connect-protocol-version": "1" };
  const { status, text } = await request(on, { path, body, headers: { ...bearer, ...headers } });
  return { status, ...(text ? { body: JSON.parse(text) } : {}) };
}

/** Fetches an address with the credential of a call. */
export async function fetched(on, url) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${on.invocationId}` } });
  return { status: response.status, type: response.headers.get("content-type"), bytes: Buffer.from(await response.arrayBuffer()) };
}

/** Asks the client of a source on standard input and output, and answers what it is answered. */
export const ask = (method, params) => new Promise((resolve) => {
  const id = `ask${asked.size}`;
  asked.set(id, resolve);
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
});
const asked = new Map();

const refuse = (code, message) => { throw Object.assign(new Error(message), { code }); };

/** Serves tools, and resources by their addresses. */
export function serve(tools, resources = {}) {
  const methods = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: "raw", version: "1" },
    }),
    ping: () => ({}),
    "tools/list": () => ({
      tools: tools.map(({ name, inputSchema = { type: "object", properties: {} }, _meta }) => ({ name, description: name, inputSchema, _meta })),
    }),
    "resources/list": () => ({ resources: Object.keys(resources).map((uri) => ({ uri, name: uri })) }),
    "resources/read": ({ uri }) => resources[uri]
      ? { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(resources[uri]) }] }
      : refuse(-32002, `no resource ${uri}`),
    "tools/call": async ({ name, arguments: args, _meta: meta }, signal) => {
      const tool = tools.find((tool) => tool.name === name) ?? refuse(-32602, `Unknown tool: ${name}`);
      try {
        const answer = await tool.call({ args, meta, on: meta?.trailblaze, signal });
        return typeof answer === "string" ? { content: [{ type: "text", text: answer }] } : answer;
      } catch (error) {
        if (typeof error.code === "number") throw error;
        return { content: [{ type: "text", text: error.message }], isError: true };
      }
    },
  };
  const running = new Map();
  const answer = async ({ id, method, params }) => {
    if (method === "notifications/cancelled") running.get(params.requestId)?.abort();
    if (id === undefined) return undefined;
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const run = methods[method] ?? (() => refuse(-32601, `Unknown method: ${method}`));
      return { jsonrpc: "2.0", id, result: await run(params ?? {}, controller.signal) };
    } catch ({ code = -32603, message }) {
      return { jsonrpc: "2.0", id, error: { code, message } };
    } finally {
      running.delete(id);
    }
  };
  const port = process.argv[process.argv.indexOf("--port") + 1];
  if (process.argv.includes("--transport")) overHttp(answer, Number(port));
  else overStdio(answer);
}

function overStdio(answer) {
  createInterface({ input: process.stdin }).on("line", async (line) => {
    const message = JSON.parse(line);
    if (!message.method) return void asked.get(message.id)?.(message.result ?? message.error);
    const told = await answer(message);
    if (told) process.stdout.write(`${JSON.stringify(told)}\n`);
  });
}

function overHttp(answer, port) {
  http.createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    let text = "";
    for await (const data of request) text += data;
    const told = await answer(JSON.parse(text));
    if (!told) return void response.writeHead(202).end();
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(told));
  }).listen(port, "127.0.0.1");
}
