/** The server that tests start. */

import { z } from "zod";
import { success, trailblaze, TrailblazeClient } from "../../src/index.js";

trailblaze.tool("t_echo", { description: "Says it again.", inputSchema: { text: z.string(), times: z.number().optional() } }, ({ text, times = 1 }) =>
  Array<string>(times).fill(text).join(" "));

trailblaze.tool("t_context", { inputSchema: z.looseObject({}) }, (args, ctx) => ({ args, ctx: ctx ?? null }));

trailblaze.tool("t_strict", { inputSchema: z.strictObject({ text: z.string() }) }, (args) => ({ args }));

trailblaze.tool(
  "t_json",
  { inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false } },
  (args) => ({ args }),
);

trailblaze.tool(
  "t_meta",
  {
    supportedPlatforms: ["android", "web"],
    requiresHost: true,
    surfaceToLlm: false,
    isRecordable: false,
    supportedDrivers: ["playwright-native"],
    requiresContext: true,
    toolset: "auth",
    _meta: { "trailblaze/isForLlm": false, "acme/owner": "mobile" },
    outputSchema: { sum: z.number() },
  },
  () => ({ sum: "no number" }),
);

trailblaze.tool("t_throw", {}, () => {
  throw new Error("kaboom");
});

trailblaze.tool("t_print", {}, () => {
  console.log("printed with log");
  console.table([{ a: "printed with table" }]);
  process.stdout.write("printed with write\n");
  return "printed";
});

trailblaze.tool("t_remember", { inputSchema: { fail: z.boolean().default(false) } }, ({ fail }, ctx) => {
  ctx!.memory.set("orderId", "4711");
  ctx!.memory.delete("draft");
  if (fail) throw new Error("not bought");
  return { ...success("Bought"), _meta: { "acme/a": 1, trailblaze: { later: 1 } } };
});

trailblaze.tool("t_callbacks", { inputSchema: { count: z.number() } }, async ({ count }, ctx, client) => {
  const answers: string[] = [];
  for (let i = 0; i < count; i++) {
    answers.push(await client.tools.who!({ i }));
    if (!(await client.isVisible({ text: String(i) }))) answers.push("not visible");
  }
  return { invocationId: ctx!.invocationId, answers };
});

// As a server does that uses the MCP SDK directly.
trailblaze.tool("t_direct", {}, async (_args, _ctx, _client, { signal, mcp }) => {
  const client = TrailblazeClient.fromContext(mcp);
  const who = await client.tools.who!();
  await client.tap({ text: "for ever" }).catch((error: Error) => console.error(`direct aborted=${signal.aborted} ${error.name}`));
  return who;
});

trailblaze.tool("t_wait", {}, async (_args, _ctx, client, { signal }) => {
  await client.tap({ text: "for ever" }).catch((error: Error) => console.error(`aborted=${signal.aborted} ${error.name}`));
  return "waited";
});

trailblaze.tool("t_tap", {}, async (_args, _ctx, client) => {
  await client.tap({ text: "Save" });
});

trailblaze.tool("t_progress", {}, async (_args, _ctx, _client, { mcp }) => {
  const { _meta, sendNotification, mcpReq } = mcp as any;
  const notify = sendNotification ?? mcpReq.notify.bind(mcpReq);
  await notify({ method: "notifications/progress", params: { progressToken: (_meta ?? mcpReq._meta).progressToken, progress: 1 } });
  return "done";
});

// What an author may leave behind.
setInterval(() => {}, 60_000);

process.stdin.on("end", () => console.error("input ended"));
console.error(await import("@modelcontextprotocol/server").then(() => "sdk 2", () => "sdk 1"));
const serving = trailblaze.run({ name: "t", version: "1.2.3" });
try {
  trailblaze.tool("t_late", {}, () => {});
} catch (error) {
  console.error(error);
}
await serving;
console.log("ended");
