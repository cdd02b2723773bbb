// Without a device: `npm test`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { mockClient } from "@packtrain/sdk/testing";
import { run } from "./__NAME__.ts";

test("taps and waits", async () => {
  const client = mockClient();
  await run({ open: "Sign up", expect: "Welcome" }, client);
  assert.deepEqual(client.calls.map((call) => call.name), ["isVisible", "tap", "waitUntilVisible"]);
});

test("taps nothing when it is there already", async () => {
  const client = mockClient({ commands: { isVisible: true } });
  await run({ open: "Sign up", expect: "Welcome" }, client);
  assert.deepEqual(client.calls.map((call) => call.name), ["isVisible"]);
});

test("fails when what is expected does not appear", async () => {
  const client = mockClient({ commands: { waitUntilVisible: new Error("not visible") } });
  await assert.rejects(run({ open: "Sign up", expect: "Welcome" }, client), /not visible/);
});
