import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { createRequire } from "node:module";
import { describe, it } from "node:test";
import { orchestrator, passed, type Received } from "./orchestrator.js";
import { commandLine, envelope, Process, startHttp, type Generation } from "./server/start.js";

const initialize = {
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "tests", version: "1" } },
};
const initialized = { method: "notifications/initialized" };
const call = (id: number, name: string, meta?: object) => ({ id, method: "tools/call", params: { name, arguments: {}, ...(meta && { _meta: meta }) } });

for (const generation of [1, 2] as Generation[]) {
  describe(`life with MCP SDK ${generation}`, { concurrency: true }, () => {
    it("ends when standard input closes, after the calls in flight", async () => {
      let arrived!: () => void;
      let release!: () => void;
      const callback = new Promise<void>((resolve) => (arrived = resolve));
      const answer = new Promise<void>((resolve) => (release = resolve));
      await using host = await orchestrator(async () => {
        arrived();
        await answer;
        return {};
      });
      await using server = new Process(commandLine(generation));
      server.send(initialize, initialized, call(1, "t_tap", envelope(host.baseUrl)));
      await callback;
      server.child.stdin!.end();
      await server.stderr.says(/input ended/);
      release();
      assert.equal(await server.exit(), 0);
      assert.deepEqual(server.messages().map(({ id, result }) => [id, result.content]), [[0, undefined], [1, []]]);
      assert.match(server.stderr.text, /^ended$/m);
    });

    it("answers what was piped into it, though nothing follows", async () => {
      await using server = new Process(commandLine(generation));
      server.send(initialize, initialized, { id: 1, method: "tools/list" }, call(2, "t_throw"));
      server.child.stdin!.end();
      assert.equal(await server.exit(), 0);
      const [, list, thrown] = server.messages();
      assert.equal(list.result.tools.length, 13);
      assert.equal(thrown.result.isError, true);
    });

    it("sends what a tool notifies before its result, and nothing else", async () => {
      await using server = new Process(commandLine(generation));
      server.send(initialize, initialized, call(1, "t_print"), call(2, "t_progress", { progressToken: "p" }));
      server.child.stdin!.end();
      assert.equal(await server.exit(), 0);
      assert.deepEqual(server.messages().map(({ id, method }) => id ?? method).sort(), [0, 1, 2, "notifications/progress"]);
      const ids = server.messages().map(({ id, method }) => id ?? method);
      assert(ids.indexOf("notifications/progress") < ids.indexOf(2));
    });

    it("ends on SIGTERM over HTTP, aborting what is in flight", async () => {
      let arrived!: (request: Received) => void;
      const callback = new Promise<Received>((resolve) => (arrived = resolve));
      await using host = await orchestrator((received) => void arrived(received));
      const { server, url } = await startHttp(generation);
      await using _ = server;
      const opened = await post(url, { jsonrpc: "2.0", ...initialize });
      const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]) };
      const pending = post(url, { jsonrpc: "2.0", ...call(1, "t_wait", envelope(host.baseUrl)) }, session);
      const failed = assert.rejects(pending);
      const { closed } = await callback;
      server.child.kill("SIGTERM");
      assert.equal(await server.exit(), 0);
      await closed;
      await failed;
      assert.equal(server.stdout.text, "");
      assert.match(server.stderr.text, /^ended$/m);
    });
  });
}

/** Sends a message over HTTP, with any headers. */
async function post(url: URL, body: unknown, headers: Record<string, string> = {}, method = "POST", path = url.pathname) {
  const sent = request({ host: url.hostname, port: url.port, path, method, headers: { "content-type": "application/json", ...headers } });
  sent.end(typeof body === "string" ? body : JSON.stringify(body));
  const [response] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}

describe("HTTP", () => {
  it("refuses foreign callers, and what is not a message", async () => {
    const { server, url } = await startHttp(1);
    await using _ = server;
    const message = { jsonrpc: "2.0", ...initialize };
    const status = async (...args: [unknown, Record<string, string>?, string?, string?]) => (await post(url, ...args)).status;
    assert.equal(await status(message), 200);
    assert.equal(await status(message, { host: `localhost:${url.port}` }), 200);
    assert.equal(await status(message, { host: `evil.example:${url.port}` }), 403);
    assert.equal(await status(message, { host: "127.0.0.1.evil.example" }), 403);
    assert.equal(await status(message, { host: "192.0.2.1" }), 403);
    assert.equal(await status(message, { origin: "https://evil.example" }), 403);
    assert.equal(await status(message, { origin: "null" }), 403);
    assert.equal(await status(message, { origin: "http://localhost:3000" }), 200);
    assert.equal(await status(message, { "content-type": "text/plain" }), 415);
    assert.equal(await status("", {}, "GET"), 405);
    assert.equal(await status("{"), 400);
    assert.equal(await status([message]), 400);
    assert.equal(await status({ ...message, jsonrpc: "1.0" }), 400);
    assert.equal(await status({ ...message, id: null }), 400);
    assert.equal(await status({ ...message, params: 7 }), 400);
    assert.equal(await status(message, {}, "POST", "/other"), 404);
    assert.equal(await status({ jsonrpc: "2.0", id: 1, method: "tools/list" }), 400);
    assert.equal(await status({ jsonrpc: "2.0", id: 1, method: "tools/list" }, { "mcp-session-id": "nobody" }), 404);
    assert.equal(await status("x".repeat(16 * 1024 * 1024 + 1)), 413);
  });

  it("survives a client that goes away before its answer", async () => {
    let arrived!: () => void;
    let release!: () => void;
    const callback = new Promise<void>((resolve) => (arrived = resolve));
    const answer = new Promise<void>((resolve) => (release = resolve));
    await using host = await orchestrator(async () => {
      arrived();
      await answer;
      return {};
    });
    const { server, url } = await startHttp(2);
    await using _ = server;
    const { headers } = await post(url, { jsonrpc: "2.0", ...initialize });
    const session = { "mcp-session-id": String(headers["mcp-session-id"]) };
    const sent = request({ host: url.hostname, port: url.port, path: url.pathname, method: "POST", headers: { "content-type": "application/json", ...session } });
    sent.on("error", () => {});
    sent.end(JSON.stringify({ jsonrpc: "2.0", ...call(1, "t_tap", envelope(host.baseUrl)) }));
    await callback;
    sent.destroy();
    release();
    // In the same session, and behind the call that nobody waits for.
    const { text } = await post(url, { jsonrpc: "2.0", ...call(2, "t_tap", envelope(host.baseUrl)) }, session);
    assert.deepEqual(JSON.parse(text).result, { content: [] });
    assert.equal(server.child.exitCode, null);
  });

  it("forgets a session that is deleted", async () => {
    const { server, url } = await startHttp(1);
    await using _ = server;
    const { headers } = await post(url, { jsonrpc: "2.0", ...initialize });
    const session = { "mcp-session-id": String(headers["mcp-session-id"]) };
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    assert.equal((await post(url, { jsonrpc: "2.0", ...initialized }, session)).status, 202);
    assert.equal((await post(url, { jsonrpc: "2.0", method: "notifications/cancelled" }, session)).status, 202);
    assert.equal((await post(url, list, session)).status, 200);
    assert.equal((await post(url, "", session, "DELETE")).status, 200);
    assert.equal((await post(url, list, session)).status, 404);
  });

  it("says what is wrong with the command line", async () => {
    for (const [flags, message] of [[["--transport", "http"], /--transport http needs --port N/], [["--transport", "pigeon"], /must be stdio or http/]] as const) {
      await using server = new Process(commandLine(1, ...flags));
      assert.equal(await server.exit(), 1);
      assert.match(server.stderr.text, message);
    }
  });
});

/** The bun of the npm package, where it is installed. */
function bun(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve("bun/bin/bun.exe");
  } catch {
    return undefined;
  }
}

describe("bun", { skip: !bun() && "the npm package bun is not installed" }, () => {
  it("serves on standard input and output, and calls back", async () => {
    await using host = await orchestrator(({ path }) => (path === "/scripting/callback" ? passed("Ada") : { body: { visible: true } }));
    await using server = new Process(commandLine(2).slice(2), bun());
    server.send(initialize, initialized, { id: 1, method: "tools/call", params: { name: "t_callbacks", arguments: { count: 2 }, _meta: envelope(host.baseUrl) } });
    await server.stdout.says(/"id":1/);
    server.send(call(2, "t_print"));
    server.child.stdin!.end();
    assert.equal(await server.exit(), 0);
    const [, called, printed] = server.messages();
    assert.deepEqual(called.result.structuredContent.answers, ["Ada", "Ada"]);
    assert.equal(printed.result.content[0].text, "printed");
  });

  it("serves on HTTP until SIGTERM", async () => {
    await using host = await orchestrator(() => ({}));
    await using server = new Process([...commandLine(2).slice(2), "--transport", "http", "--port", "0"], bun());
    const [, address] = await server.stderr.says(/listening on (\S+)/);
    const url = new URL(address!);
    const { headers } = await post(url, { jsonrpc: "2.0", ...initialize });
    const session = { "mcp-session-id": String(headers["mcp-session-id"]) };
    const { text } = await post(url, { jsonrpc: "2.0", ...call(1, "t_tap", envelope(host.baseUrl)) }, session);
    assert.deepEqual(JSON.parse(text).result, { content: [] });
    server.child.kill("SIGTERM");
    assert.equal(await server.exit(), 0);
  });
});
