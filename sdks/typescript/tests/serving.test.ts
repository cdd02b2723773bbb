import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { orchestrator, passed, type Received } from "./orchestrator.js";
import { connect, envelope, type Generation } from "./server/start.js";

const text = (result: any) => result.content[0].text;

for (const generation of [1, 2] as Generation[]) {
  for (const transport of ["stdio", "http"] as const) {
    describe(`MCP SDK ${generation} over ${transport}`, { concurrency: true }, () => {
      let server: Awaited<ReturnType<typeof connect>>;
      before(async () => {
        server = await connect(generation, transport);
      });
      after(() => server[Symbol.asyncDispose]());

      it("lists tools with schema and metadata, under the name and version given", async () => {
        await server.stderr.says(new RegExp(`sdk ${generation}`));
        await server.stderr.says(/`t_late` is declared after run\(\)/);
        assert.deepEqual(server.client.getServerVersion(), { name: "t", version: "1.2.3" });
        const { tools } = await server.client.listTools();
        const byName = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
        const { description, inputSchema } = byName.t_echo!;
        assert.equal(description, "Says it again.");
        assert.deepEqual(inputSchema.properties, { text: { type: "string" }, times: { type: "number" } });
        assert.deepEqual(inputSchema.required, ["text"]);
        assert.equal(byName.t_strict!.inputSchema.additionalProperties, false);
        assert.deepEqual(byName.t_meta!.inputSchema.properties, {});
        assert.deepEqual(byName.t_meta!.outputSchema!.properties, { sum: { type: "number" } });
        assert.deepEqual(byName.t_meta!._meta, {
          "trailblaze/supportedPlatforms": ["android", "web"],
          "trailblaze/requiresHost": true,
          "trailblaze/surfaceToLlm": false,
          "trailblaze/isRecordable": false,
          "trailblaze/supportedDrivers": ["playwright-native"],
          "trailblaze/requiresContext": true,
          "trailblaze/toolset": "auth",
          "trailblaze/isForLlm": false,
          "acme/owner": "mobile",
        });
      });

      it("calls tools, and has errors as results", async () => {
        assert.deepEqual((await server.call("t_echo", { text: "hi", times: 2 })).content, [{ type: "text", text: "hi hi" }]);
        const thrown = await server.call("t_throw");
        assert.deepEqual([thrown.isError, text(thrown)], [true, "kaboom"]);
        const wrong = await server.call("t_echo", { text: 1 });
        assert.equal(wrong.isError, true);
        assert.match(text(wrong), /^`t_echo` was called with wrong arguments: text: .*string/);
        const wrongJson = await server.call("t_json", { n: 1.5 });
        assert.equal(wrongJson.isError, true);
        assert.match(text(wrongJson), /integer/);
        const output = await server.call("t_meta");
        assert.equal(output.isError, true);
        assert.match(text(output), /sum: .*number/);
        assert.match(text(await server.call("t_nope")), /unknown tool `t_nope`/);
      });

      it("gives a context in a session and none outside, and hides the argument of older hosts", async () => {
        const meta = envelope("http://127.0.0.1:1");
        const { args, ctx } = (await server.call("t_context", { a: 1, _trailblazeContext: { memory: {} } }, meta)).structuredContent;
        assert.deepEqual(args, { a: 1 });
        assert.deepEqual(ctx, { ...meta.trailblaze, device: { ...meta.trailblaze.device, instanceId: "emulator-5554" } });
        assert.deepEqual((await server.call("t_context")).structuredContent, { args: {}, ctx: null });
        assert.deepEqual((await server.call("t_strict", { text: "x", _trailblazeContext: {} })).structuredContent, { args: { text: "x" } });
        assert.deepEqual((await server.call("t_json", { n: 1, _trailblazeContext: {} })).structuredContent, { args: { n: 1 } });
        const refused = await server.call("t_tap");
        assert.equal(refused.isError, true);
        assert.match(text(refused), /Tap needs a device/);
      });

      it("sends memory back, beside the tool's own metadata, and not of a failure", async () => {
        const { _meta } = await server.call("t_remember", {}, envelope("http://127.0.0.1:1"));
        assert.deepEqual(_meta["acme/a"], 1);
        assert.deepEqual(_meta.trailblaze, { later: 1, memoryDelta: { orderId: "4711" }, memoryDeletions: ["draft"] });
        const failed = await server.call("t_remember", { fail: true }, envelope("http://127.0.0.1:1"));
        assert.deepEqual([failed.isError, failed._meta?.trailblaze], [true, undefined]);
      });

      it("keeps what is printed off the wire", async () => {
        assert.equal(text(await server.call("t_print")), "printed");
        await server.call("t_echo", { text: "x" });
        for (const way of ["log", "table", "write"]) await server.stderr.says(new RegExp(`printed with ${way}`));
      });

      it("runs 50 calls at once, each with its own callbacks", async () => {
        let waiting: (() => void)[] = [];
        // Answers only once the first callbacks of all calls are there.
        const together = () => new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length === 50) waiting.splice(0).forEach((release) => release());
        });
        await using host = await orchestrator(async ({ path, body, headers }) => {
          if (path !== "/scripting/callback") return { body: { visible: headers.authorization!.startsWith("Bearer inv-") } };
          await together();
          return passed(`${body.session_id} ${body.invocation_id} ${JSON.parse(body.action.arguments_json).i}`);
        });
        const ids = Array.from({ length: 50 }, (_, i) => `inv-${i}`);
        const results = await Promise.all(ids.map((id) => server.call("t_callbacks", { count: 3 }, envelope(host.baseUrl, id))));
        for (const [i, id] of ids.entries()) {
          assert.deepEqual(results[i].structuredContent, { invocationId: id, answers: [0, 1, 2].map((n) => `session-of-${id} ${id} ${n}`) });
        }
        // A connection rests for a turn of the loop before it is used again: at most two for a call.
        assert(host.connections() <= 100, `${host.connections()} connections for 300 callbacks`);
      });

      for (const [tool, says] of [["t_wait", /^aborted=true CancelledError/m], ["t_direct", /^direct aborted=true CancelledError/m]] as const) {
        it(`aborts the callbacks of a cancelled call, and goes on: ${tool}`, async () => {
          let arrived!: (request: Received) => void;
          const callback = new Promise<Received>((resolve) => (arrived = resolve));
          await using host = await orchestrator((request) => (request.path.endsWith("/Tap") ? void arrived(request) : passed("Ada")));
          const cancel = new AbortController();
          const call = server.call(tool, {}, envelope(host.baseUrl, tool), { signal: cancel.signal });
          const { closed, headers } = await callback;
          assert.equal(headers.authorization, `Bearer ${tool}`);
          cancel.abort(new Error("enough"));
          await assert.rejects(call);
          await closed;
          assert.equal(text(await server.call("t_echo", { text: "still here" })), "still here");
          await server.stderr.says(says);
        });
      }

      // On stdio the clients of both versions may drop progress that arrives together with its result.
      if (transport === "http") {
        it("passes progress on before the result", async () => {
          const progress: any[] = [];
          const result = await server.call("t_progress", {}, undefined, { onprogress: (step) => progress.push(step) });
          assert.equal(text(result), "done");
          assert.deepEqual(progress.map((step) => step.progress), [1]);
        });
      }

      it("blames a host that is gone", async () => {
        const gone = await orchestrator(() => undefined);
        await gone[Symbol.asyncDispose]();
        const result = await server.call("t_tap", {}, envelope(gone.baseUrl));
        assert.equal(result.isError, true);
        assert.match(text(result), /could not reach Packtrain at http:\/\/127\.0\.0\.1:\d+ .*; the run has probably ended/);
      });
    });
  }
}
