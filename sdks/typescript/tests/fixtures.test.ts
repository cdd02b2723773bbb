import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import * as sdk from "../src/index.js";
import { COMMANDS, type Method } from "../src/generated/commands.js";
import { fixtures } from "./fixtures.js";
import { orchestrator } from "./orchestrator.js";

const api = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8"));

/** Calls a command as an author would: required arguments in their order, then the options. */
function invoke(client: sdk.TrailblazeClient, method: Method, args: Record<string, unknown>): Promise<unknown> {
  const { required = [], properties } = api.components.schemas[`${method}Request`];
  const byNumber = (a: string, b: string) => properties[a]["x-packtrain-number"] - properties[b]["x-packtrain-number"];
  const options = Object.fromEntries(Object.entries(args).filter(([name]) => !required.includes(name)));
  const given = [...required].sort(byNumber).map((name) => args[name]);
  const path = COMMANDS[method].name.split(".");
  const owner = path.length === 2 ? (client as any)[path[0]!] : client;
  return owner[path.at(-1)!](...given, ...(Object.keys(options).length ? [options] : []));
}

async function failure(call: Promise<unknown>, expected: any) {
  const { class: name, ...fields } = expected;
  await assert.rejects(call, (error: any) => {
    assert.equal(error.constructor, (sdk as any)[name]);
    assert.equal(error.name, name);
    assert(error instanceof sdk.CommandError);
    for (const [key, value] of Object.entries(fields)) assert.equal((error as any)[key], value);
    return true;
  });
}

describe("context.json", () => {
  for (const { name, meta, context } of fixtures("context")) {
    it(name, () => assert.deepEqual(JSON.parse(JSON.stringify(sdk.fromMeta(meta ?? undefined) ?? null)), context));
  }
});

describe("commands.json", () => {
  for (const { name, method, arguments: args, request, response, ...expected } of fixtures("commands")) {
    it(name, async () => {
      await using server = await orchestrator(() => response);
      const call = invoke(server.client(), method, args);
      if (expected.error) await failure(call, expected.error);
      else assert.deepEqual((await call) ?? null, expected.returns);
      const [got] = server.requests;
      assert.equal(server.requests.length, 1);
      assert.equal(`${got!.method} ${got!.path}`, `POST /packtrain.v1.Commands/${method}`);
      assert.deepEqual(got!.body, request);
      assert.equal(got!.headers["content-type"], "application/json");
      assert.equal(got!.headers["connect-protocol-version"], "1");
      assert.equal(got!.headers.authorization, "Bearer invocation-1");
    });
  }

  it("has every command and every class", () => {
    const cases = fixtures("commands");
    assert.deepEqual([...new Set(cases.map(({ method }) => method))].sort(), Object.keys(COMMANDS).sort());
    const classes = new Set([...cases, ...fixtures("callTool")].flatMap(({ error }) => error?.class ?? []));
    const all = Object.keys(sdk).filter((name) => /^[A-Z].*Error$/.test(name));
    assert.deepEqual([...classes].sort(), all.sort());
  });
});

describe("callTool.json", () => {
  for (const { name, tool, arguments: args, request, response, ...expected } of fixtures("callTool")) {
    it(name, async () => {
      await using server = await orchestrator(() => response);
      const client = server.client();
      if (expected.error) {
        await failure(client.callTool(tool, args), expected.error);
        await failure(client.tools[tool]!(args), expected.error);
      } else {
        assert.deepEqual(await client.callTool(tool, args), expected.returns);
        assert.deepEqual((await client.tools[tool]!(args)) ?? null, expected.value);
      }
      for (const { method, path, body } of server.requests) {
        assert.equal(`${method} ${path}`, "POST /scripting/callback");
        assert.deepEqual(body, request);
      }
      assert.equal(server.requests.length, 2);
    });
  }
});

describe("results.json", () => {
  for (const { name, helper, arguments: args, result } of fixtures("results")) {
    it(name, () => assert.deepEqual((sdk as any)[helper](...args.map((value: unknown) => value ?? undefined)), result));
  }
});

describe("memory.json", () => {
  for (const { name, start, operations, meta } of fixtures("memory")) {
    it(name, () => {
      const memory = new sdk.Memory(start);
      for (const [operation, ...args] of operations) {
        const reads = ["get", "has", "keys"].includes(operation);
        const expected = reads ? args.pop() : null;
        assert.deepEqual((memory as any)[operation](...args) ?? null, expected);
      }
      assert.deepEqual(memory.addTo(sdk.success()), meta ? { content: [], _meta: meta } : { content: [] });
    });
  }
});
