// A tool source that misbehaves as it is told: by its arguments while it starts, by those of a call
// afterwards. Plain Node; speaks MCP over standard input and output, and over streamable HTTP.
//
//   node faulty.mjs [key=value ...] [--transport http --port N]
//
//   name=x        its tools are x_ok, x_crash, ...
//   record=FILE   what happens to it, a line of JSON each
//   start=WORD    silent, slow, exit, noisy, stubborn, child
//   list=WORD     endless, circle (pages without end), malformed (tools that are none among its own)
//   http=WORD     ignore, refuse (an exit for flags it does not know), late, unauthorized,
//                 taken (the first time)
//   port=N|print  listens there without a flag; prints a port of its own
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const given = Object.fromEntries(
  process.argv.slice(2).filter((arg) => !arg.startsWith("--") && arg.includes("=")).map((arg) => arg.split(/=(.*)/s)),
);
const name = given.name ?? "bad";
const record = (what, more = {}) => {
  if (given.record) appendFileSync(given.record, JSON.stringify({ source: name, pid: process.pid, at: Date.now(), what, ...more }) + "\n");
};
const recorded = () => (given.record && existsSync(given.record) ? readFileSync(given.record, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line)) : []);

// The most memory that this program's parent has taken, in KiB; where the system tells.
const peak = () => {
  const status = `/proc/${process.ppid}/status`;
  return existsSync(status) ? Number(/VmHWM:\s*(\d+)/.exec(readFileSync(status, "utf8"))?.[1]) : 0;
};
const flag = (word) => {
  const at = process.argv.indexOf(word);
  return at < 0 ? undefined : process.argv[at + 1];
};
record("start", { session: process.env.TRAILBLAZE_SESSION_ID, arguments: process.argv.slice(2) });
if (given.http === "refuse" && flag("--transport")) {
  console.error("error: unknown option '--transport'");
  process.exit(2);
}
if (given.http === "taken" && recorded().length === 1) {
  console.error("Error: listen EADDRINUSE: address already in use");
  process.exit(1);
}
if (given.start === "exit") {
  for (let i = 1; i <= 3; i++) console.error(`reason ${i}`);
  process.exit(3);
}
if (given.start === "stubborn") process.on("SIGTERM", () => record("term"));
if (given.start === "child" || given.start === "stubborn") {
  // It ignores SIGTERM and outlives every test.
  spawn("/bin/sh", ["-c", `trap '' TERM INT HUP; sleep 3600; : ${given.mark}`], { stdio: ["ignore", "inherit", "inherit"] });
}
if (given.start === "noisy") {
  process.stdout.write("Welcome to the server!\n\n{\"level\":\"info\",\"half\":\n");
  process.stdout.write(Buffer.from([0xff, 0xfe, 0x41, 0x0a]));
}

const tools = new Set(["ok", "crash", "hang", "block", "slow", "flood", "big", "noisy", "twice", "swap", "meet", "add", "remove", "take", "back", "deaf", "wait", "malformed", "unread"]);
const extra = new Set();
const callers = new Map(); // of requests under way, by id
const delay = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const text = (words, more = {}) => ({ content: [{ type: "text", text: words }], ...more });

// Until so many lines of the record are of this kind.
async function until(what, count) {
  while (recorded().filter((line) => line.what === what && line.source === name).length < count) await delay(10);
}

const rounds = [];
async function call(id, params, send, raw) {
  const { arguments: args = {}, _meta: meta = {} } = params;
  const about = meta.trailblaze ?? {};
  const tool = params.name.replace(`${name}_`, "");
  record("call", { tool, id, device: about.device?.id, session: about.sessionId, peak: peak() });
  const answer = (result) => {
    record("answer", { tool, id });
    send({ jsonrpc: "2.0", id, result });
  };
  const progress = (value) => send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: meta.progressToken, progress: value } });
  if (args.on && args.on !== about.device?.id) return answer(text("not on this device"));
  switch (tool) {
    case "crash":
      for (let i = 1; i <= 3; i++) console.error(`last words ${i}`);
      return process.exit(42);
    case "hang":
      return callers.set(id, answer);
    case "block":
      for (;;);
    case "deaf":
      process.stdin.pause();
      setInterval(() => {}, 1000);
      return answer(text("deaf from now on"));
    case "slow":
      for (let spent = 0; spent < args.ms; spent += args.every ?? args.ms) {
        await delay(args.every ?? args.ms);
        if (args.every && args.progress !== false) progress(spent + 1);
      }
      return answer(text("slow"));
    case "flood":
      for (let i = 1; i <= args.count; i++) if (!progress(i)) await new Promise((resolve) => raw.once("drain", resolve));
      return answer(text("flooded"));
    case "big":
      return answer(text("x".repeat(args.mb * 1024 * 1024)));
    case "noisy":
      raw.write("garbage before\n{\"no\":\"rpc\"}\n[1,2]\nnull\n");
      raw.write(Buffer.from([0xc3, 0x28, 0xff, 0x0a]));
      raw.write("half a li");
      await delay(20);
      raw.write("ne\n");
      {
        // A message in three pieces.
        const whole = JSON.stringify({ jsonrpc: "2.0", id, result: text("in pieces: äöü") });
        const bytes = Buffer.from(whole + "\ngarbage behind\n");
        const at = bytes.indexOf(Buffer.from("ä")) + 1;
        for (const part of [bytes.subarray(0, 10), bytes.subarray(10, at), bytes.subarray(at)]) {
          raw.write(part);
          await delay(20);
        }
      }
      return;
    case "malformed":
      return send({ jsonrpc: "2.0", id, result: "no object" });
    case "unread": {
      // Answers that no parser of JSON takes, and one that is half of an array.
      const results = { surrogate: '"\\ud83d"', nan: "NaN", large: "1e400", deep: "[".repeat(500) + "]".repeat(500) };
      const result = results[args.how];
      raw.write(`{"level":"debug","sent":{"jsonrpc":"2.0","id":${id},"result":NaN}}\n`);
      if (result) return raw.write(`{"result":${result},"jsonrpc":"2.0","id":${id}}\n`);
      const more = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: meta.progressToken, progress: 1 } };
      return send([more, { jsonrpc: "2.0", id, result: text("one of several") }]);
    }
    case "twice":
      // Over HTTP the first answer ends the response.
      if (raw === process.stdout) {
        send({ jsonrpc: "2.0", id: 987654, result: text("an id that nobody has") });
        send({ jsonrpc: "2.0", id: "three", result: text("an id of another type") });
      }
      answer(text(`twice for ${args.word}`));
      send({ jsonrpc: "2.0", id, result: text("the second answer") });
      return send({ jsonrpc: "2.0", id, error: { code: -1, message: "the third answer" } });
    case "swap": {
      // Two calls are answered at once, the later one first; the earlier one twice.
      rounds.push(() => {
        send({ jsonrpc: "2.0", id, result: text(`for ${about.device.id}`) });
        send({ jsonrpc: "2.0", id, result: text("the second answer") });
      });
      if (rounds.length === 2) while (rounds.length) rounds.pop()();
      return;
    }
    case "meet":
      // So many calls are under way before any is answered.
      rounds.push(() => answer(text("met")));
      if (rounds.length === args.of) while (rounds.length) rounds.pop()();
      return;
    case "wait":
      await until(args.what, args.count);
      return answer(text("waited"));
    case "add":
    case "take":
    case "remove": {
      const [word, other] = [args.tool, args.with];
      if (tool === "remove") tools.delete(word);
      else if (tool === "add") tools.add(word);
      else extra.add(word);
      if (other) extra.add(other);
      toAll({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      return answer(text(`${tool} ${word}`));
    }
    case "back": {
      const body = { version: 1, session_id: about.sessionId, invocation_id: about.invocationId, action: { type: "call_tool", tool_name: args.tool, arguments_json: JSON.stringify(args.args ?? {}) } };
      const times = args.times ?? 1;
      for (let i = 0; i < times; i++) {
        if (args.pause) await delay(args.pause);
        const said = await fetch(`${about.baseUrl}/scripting/callback`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
        const { result } = await said.json();
        record("called back", { result });
        if (!result.success) return answer(text(result.error_message ?? result.message, { isError: true }));
      }
      return answer(text("called back"));
    }
    default:
      if (!tools.has(tool) && !extra.has(params.name)) return send({ jsonrpc: "2.0", id, error: { code: -32602, message: `Unknown tool: ${params.name}` } });
      if (args.ms) await delay(args.ms);
      return answer(text(`${params.name} by ${process.pid}`));
  }
}

// Answers a message; `send` is for all that belongs to it.
function handle(message, send, raw) {
  const { id, method, params } = message;
  if (id === undefined) {
    if (method === "notifications/cancelled") record("cancelled", { id: params.requestId, reason: params.reason });
    return;
  }
  const answer = (result) => send({ jsonrpc: "2.0", id, result });
  switch (method) {
    case "initialize":
      if (given.start === "silent") return;
      if (given.start === "slow") return void setTimeout(() => answer(greeting(params)), Number(given.ms));
      return answer(greeting(params));
    case "tools/list": {
      record("list");
      const schema = { type: "object" };
      const listed = [...tools].map((tool) => ({ name: `${name}_${tool}`, description: tool, inputSchema: schema }));
      for (const tool of extra) listed.push({ name: tool, description: tool, inputSchema: schema });
      if (given.list === "endless") return answer({ tools: listed, nextCursor: String(Number(params?.cursor ?? 0) + 1) });
      if (given.list === "circle") return answer({ tools: listed, nextCursor: "again" });
      if (given.list === "malformed") {
        const wrong = [{ name: `${name}_bare` }, { name: `${name}_text`, inputSchema: "string" }, { name: `${name}_meta`, inputSchema: schema, _meta: [1] }];
        listed.unshift(...wrong);
      }
      return answer({ tools: listed });
    }
    case "tools/call":
      return void call(id, params, send, raw);
    case "ping":
      return answer({});
    default:
      return send({ jsonrpc: "2.0", id, error: { code: -32601, message: `no ${method}` } });
  }
}
const greeting = (params) => ({
  protocolVersion: params.protocolVersion,
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name, version: "1" },
});

const streams = new Set(); // who is told what concerns nobody in particular
const toAll = (message) => streams.forEach((send) => send(message));

let lines;
function onStdio() {
  const send = (message) => process.stdout.write(JSON.stringify(message) + "\n");
  streams.add(send);
  lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => handle(JSON.parse(line), send, process.stdout));
  process.stdin.on("end", () => {
    record("eof");
    if (given.start !== "stubborn") process.exit(0);
  });
}

function onHttp(port) {
  const server = createServer((request, response) => {
    if (given.http === "unauthorized") {
      response.writeHead(Number(given.status), { "content-type": "text/plain" });
      return response.end("bring the key of the house");
    }
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      const send = (message) => response.write(`data: ${JSON.stringify(message)}\n\n`);
      streams.add(send);
      return response.on("close", () => streams.delete(send));
    }
    if (request.method !== "POST") return response.writeHead(405).end();
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      const message = JSON.parse(body);
      if (message.id === undefined) {
        handle(message);
        return response.writeHead(202).end();
      }
      if (given.answers === "json" && message.method === "tools/call") {
        const send = (answer) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
        return handle(message, send, response);
      }
      response.writeHead(200, { "content-type": "text/event-stream", "mcp-session-id": "one" });
      handle(message, (answer) => {
        if (response.writableEnded) return false;
        if (answer.id === message.id) setImmediate(() => response.end());
        return response.write(`data: ${JSON.stringify(answer)}\n\n`);
      }, response);
    });
  });
  server.on("error", (error) => {
    console.error(String(error.code === "EADDRINUSE" ? `EADDRINUSE: ${error.message}` : error));
    process.exit(1);
  });
  server.listen(port, given.host ?? "127.0.0.1", () => {
    record("listening", { port: server.address().port });
    console.log(`listening on ${server.address().port}`);
    console.error(`also listening on ${server.address().port}, says standard error`);
  });
}

const port = flag("--port") ?? given.port;
if (port === undefined || given.http === "ignore") onStdio();
else if (given.http === "late") setTimeout(() => onHttp(Number(port)), 600);
else onHttp(port === "print" ? 0 : Number(port));
