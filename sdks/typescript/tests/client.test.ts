import assert from "node:assert/strict";
import { createServer, type AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { CancelledError, CommandError, DeadlineError, DeviceUnavailableError, InvocationEndedError, TrailblazeClient } from "../src/index.js";
import { mockContext } from "../src/testing.js";
import { orchestrator, passed, type Received } from "./orchestrator.js";
import { envelope, Process } from "./server/start.js";

const fails = (Class: typeof CommandError, code: string, message: RegExp) => (error: any) => {
  assert.equal(error.constructor, Class);
  assert.equal(error.code, code);
  assert.match(error.message, message);
  return true;
};

describe("client", { concurrency: true }, () => {
  it("is made from what either MCP SDK gives a handler, or from a request's _meta", async () => {
    await using host = await orchestrator(() => passed("x"));
    const meta = envelope(host.baseUrl, "here");
    for (const source of [{ _meta: meta, signal: undefined }, { mcpReq: { _meta: meta } }, meta]) {
      const client = TrailblazeClient.fromContext(source);
      assert.equal(client.context?.invocationId, "here");
      assert.equal(await client.tools.any!(), "x");
    }
    assert.equal(host.requests.at(-1)!.body.invocation_id, "here");
  });

  it("takes the signal from what the MCP SDK gives", async () => {
    const meta = envelope("http://127.0.0.1:1");
    const signal = AbortSignal.abort();
    for (const source of [{ _meta: meta, signal }, { mcpReq: { _meta: meta, signal } }]) {
      await assert.rejects(TrailblazeClient.fromContext(source).tap({ text: "x" }), fails(CancelledError, "canceled", /cancelled/));
    }
    await assert.rejects(TrailblazeClient.fromContext(meta, { signal }).tap({ text: "x" }), CancelledError);
  });

  it("needs a device outside of a session, for whatever it is asked", async () => {
    const { baseUrl: _, ...withoutUrl } = envelope("http://127.0.0.1:1").trailblaze;
    for (const source of [undefined, null, {}, { _meta: {} }, { mcpReq: {} }, { trailblaze: withoutUrl }]) {
      const client = TrailblazeClient.fromContext(source);
      const isRefused = fails(CommandError, "failed_precondition", /needs a device: call the tool from a Packtrain session/);
      await assert.rejects(client.tap({ text: "x" }), isRefused);
      await assert.rejects(client.web.click("#x"), isRefused);
      await assert.rejects(client.captureScreen(), isRefused);
      await assert.rejects(client.callTool("x"), isRefused);
      await assert.rejects(client.tools.x!(), isRefused);
    }
  });

  it("has no tools under the names that JavaScript looks up by itself", async () => {
    const { tools } = TrailblazeClient.fromContext(undefined);
    for (const name of ["then", "catch", "finally", "constructor", "prototype", "__proto__", "toString", "valueOf", "toJSON", Symbol.toPrimitive]) {
      assert.equal((tools as any)[name], undefined);
    }
    assert.equal(await tools, tools);
    assert.throws(() => tools[" "], TypeError);
  });

  it("fetches the picture and the tree of a screen with the call's credential, from nowhere else", async () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
    await using host = await orchestrator(({ path }) => {
      if (path === "/screens/1.png?x=1") return { body: png };
      if (path === "/screens/1.json") return { body: { role: "root" } };
      return { body: { width: 1, height: 2, text: "t", screenshotUrl: "http://evil.example/screens/1.png?x=1", treeUrl: "/screens/1.json" } };
    });
    const screen = await host.client().captureScreen();
    assert.deepEqual(await screen.screenshot(), png);
    assert.deepEqual(await screen.tree(), { role: "root" });
    assert.deepEqual(Object.keys(screen), ["width", "height", "text", "screenshotUrl", "treeUrl"]);
    for (const { headers } of host.requests) assert.equal(headers.authorization, "Bearer invocation-1");
    assert.deepEqual(host.requests.map(({ method }) => method), ["POST", "GET", "GET"]);
  });

  it("fails with the server's error when a screen is gone", async () => {
    await using host = await orchestrator(({ path }) =>
      path === "/tree"
        ? { status: 401, body: { code: "unauthenticated", message: "the tool call has ended" } }
        : { body: { width: 1, height: 2, text: "t", screenshotUrl: "/picture", treeUrl: "/tree" } });
    const screen = await host.client().captureScreen();
    await assert.rejects(screen.tree(), fails(InvocationEndedError, "unauthenticated", /^the tool call has ended$/));
  });

  it("reads a value that was left out because it is empty", async () => {
    await using host = await orchestrator(() => ({ body: {} }));
    const client = host.client();
    assert.equal(await client.isVisible({ text: "x" }), false);
    assert.equal(await client.getElementCount({ text: "x" }), 0);
    assert.equal(await client.getElementText("x"), undefined);
    assert.equal(await client.web.evaluateJs("x"), undefined);
    assert.equal(await client.tap({ text: "x" }), undefined);
  });

  it("reuses one connection for calls that follow each other", async () => {
    await using host = await orchestrator(() => passed());
    const client = host.client();
    for (let i = 0; i < 20; i++) await client.callTool("x", { i });
    assert(host.connections() <= 2, `${host.connections()} connections`);
  });

  it("has 200 callbacks in flight at once", async () => {
    const waiting: (() => void)[] = [];
    await using host = await orchestrator(async ({ body }) => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 200) waiting.forEach((release) => release());
      });
      return passed(body.action.arguments_json);
    });
    const client = host.client();
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => client.tools.x!({ i })));
    assert.deepEqual(answers, Array.from({ length: 200 }, (_, i) => JSON.stringify({ i })));
  });

  it("aborts what is in flight, and only that", async () => {
    let arrived!: (request: Received) => void;
    const first = new Promise<Received>((resolve) => (arrived = resolve));
    await using host = await orchestrator((request) => (request.path.endsWith("/Tap") ? void arrived(request) : passed("x")));
    const cancel = new AbortController();
    const tapped = host.client(cancel.signal).tap({ text: "x" });
    const { closed } = await first;
    cancel.abort();
    await assert.rejects(tapped, fails(CancelledError, "canceled", /^Tap: the tool call was cancelled$/));
    await closed;
    assert.equal(await host.client().tools.x!(), "x");
  });

  it("says where nobody answered", async () => {
    const gone = await orchestrator(() => undefined);
    await gone[Symbol.asyncDispose]();
    const where = new RegExp(`could not reach Packtrain at ${gone.baseUrl} \\(.*ECONNREFUSED.*\\); the run has probably ended`);
    await assert.rejects(gone.client().tap({ text: "x" }), fails(DeviceUnavailableError, "unavailable", where));
    await assert.rejects(gone.client().callTool("x"), fails(DeviceUnavailableError, "unavailable", where));
  });

  it("says that a connection was cut", async () => {
    const server = createServer((socket) => socket.once("data", () => socket.destroy()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = TrailblazeClient.of(mockContext({ baseUrl }));
    await assert.rejects(client.tap({ text: "x" }), fails(DeviceUnavailableError, "unavailable", /could not reach Packtrain/));
    await new Promise((resolve) => server.close(resolve));
  });

  it("uses no proxy, and gives up after the time of the environment", async () => {
    await using proxy = await orchestrator(() => ({ status: 500 }));
    await using host = await orchestrator(({ path }) => (path.endsWith("/Tap") ? undefined : passed("direct")));
    const script = `
      import { TrailblazeClient } from "./src/index.ts";
      const client = TrailblazeClient.fromContext(${JSON.stringify(envelope(host.baseUrl))});
      console.log(await client.tools.x());
      await client.tap({ text: "x" }).catch(({ name, code, message }) => console.log(name, code, message));
    `;
    const env = { TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS: "50", HTTP_PROXY: proxy.baseUrl, http_proxy: proxy.baseUrl, ALL_PROXY: proxy.baseUrl, NODE_USE_ENV_PROXY: "1" };
    await using process = new Process(["--import", "tsx", "--input-type=module", "-e", script], undefined, env);
    assert.equal(await process.exit(), 0);
    assert.equal(process.stdout.text, `direct\n${DeadlineError.name} deadline_exceeded Tap: no answer from ${host.baseUrl} within 50 ms\n`);
    assert.equal(proxy.requests.length, 0);
  });
});
