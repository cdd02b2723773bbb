import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { Calls } from "../src/calls.js";
import { trailblaze } from "../src/index.js";
import { mockClient, mockContext } from "../src/testing.js";
import type { Returned, ToolSpec } from "../src/spec.js";

const never = new AbortController().signal;

/** The result of a tool that returns this. */
async function resultOf(value: unknown, spec: ToolSpec = {}, args = {}) {
  const calls = await Calls.of([{ name: "t", spec, handler: () => value as Returned }], undefined);
  return calls.call({ name: "t", arguments: args }, never, undefined);
}

describe("trailblaze.tool", () => {
  it("refuses names that are none, and names that are taken", () => {
    for (const name of ["", "a b", "a.b", "x".repeat(65)]) assert.throws(() => trailblaze.tool(name, {}, () => {}), /is not a tool name/);
    trailblaze.tool("x".repeat(64), {}, () => {});
    assert.throws(() => trailblaze.tool("x".repeat(64), {}, () => {}), /two tools are called/);
  });
});

describe("a tool in a test", () => {
  it("is called with a mock client, and is cancelled by nobody", async () => {
    const signIn = trailblaze.tool("shop_signIn", { inputSchema: { user: z.string() } }, async ({ user }, ctx, client, { signal }) => {
      await client.inputText(user);
      ctx?.memory.set("user", user);
      return `${user} ${signal.aborted}`;
    });
    const [client, ctx] = [mockClient(), mockContext()];
    assert.equal(await signIn({ user: "Ada" }, ctx, client), "Ada false");
    assert.deepEqual(client.calls, [{ kind: "command", name: "inputText", args: { text: "Ada" } }]);
    assert.deepEqual(ctx.memory.changes(), { memoryDelta: { user: "Ada" } });
  });
});

describe("what a handler returns", () => {
  it("is a result as it is, or becomes one", async () => {
    const image = { content: [{ type: "image", data: "", mimeType: "image/png" }], _meta: { a: 1 } };
    assert.equal(await resultOf(image), image);
    assert.deepEqual(await resultOf(undefined), { content: [] });
    assert.deepEqual(await resultOf(null), { content: [] });
    assert.deepEqual(await resultOf("done"), { content: [{ type: "text", text: "done" }] });
    assert.deepEqual(await resultOf(Promise.resolve({ a: 1 })), { content: [{ type: "text", text: '{"a":1}' }], structuredContent: { a: 1 } });
    const page = { content: ["a page"] };
    assert.deepEqual((await resultOf(page)).structuredContent, page);
  });

  it("fails when it is nothing that a tool can return, or does not match the schema", async () => {
    for (const value of [7, true, [1]]) assert.match(String((await resultOf(value)).content[0]!.text), /^a tool returns a result, a text or an object, not/);
    const { isError, content } = await resultOf({ sum: "1" }, { outputSchema: { sum: z.number() } });
    assert.equal(isError, true);
    assert.match(String(content[0]!.text), /^sum: /);
    assert.equal((await resultOf({ sum: 1 }, { outputSchema: { sum: z.number() } })).isError, undefined);
  });
});

describe("schemas", () => {
  it("fail early when a library cannot say them as JSON Schema", async () => {
    const old = { "~standard": { version: 1 as const, vendor: "zod", validate: () => ({ value: 1 }) } };
    await assert.rejects(resultOf("x", { inputSchema: old }), /schemas of zod need a newer version \(zod: 4\.2\)/);
  });

  it("name every argument that is wrong", async () => {
    const inputSchema = { a: z.string(), b: z.object({ c: z.number() }) };
    const { content } = await resultOf("x", { inputSchema }, { b: { c: "1" } });
    assert.match(String(content[0]!.text), /a: .*; b\.c: /);
  });
});
