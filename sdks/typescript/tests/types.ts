/** What an author's editor knows. Checked by `tsc --noEmit`, run by nobody. */

import { z } from "zod";
import { fromMeta, success, trailblaze, TrailblazeClient, type Handler, type Tools } from "../src/index.js";
import { mockClient } from "../src/testing.js";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>) => {};

declare module "../src/client.js" {
  interface Tools {
    shop_total(args: { currency: string }): Promise<number>;
  }
}

trailblaze.tool("a_shape", { inputSchema: { text: z.string(), times: z.number().default(1), note: z.string().optional() } }, (args, ctx, client, { signal }) => {
  same<typeof args, { text: string; times: number; note?: string | undefined }>(true);
  same<typeof client, TrailblazeClient>(true);
  same<typeof signal, AbortSignal>(true);
  // @ts-expect-error: there may be no session
  ctx.sessionId;
  return ctx?.device.platform === "ios" ? "text" : success("done", { a: 1 });
});
const anObject = trailblaze.tool("an_object", { inputSchema: z.object({ id: z.number() }), supportedPlatforms: ["android"] }, async ({ id }) => ({ id: id.toFixed() }));
trailblaze.tool("a_schema", { inputSchema: { type: "object", properties: { n: { type: "integer" } } } }, (args) => same<typeof args, Record<string, any>>(true));
trailblaze.tool("nothing", { _meta: { "trailblaze/isRecordable": false, "acme/x": 1 } }, async () => {});
// @ts-expect-error: no such platform
trailblaze.tool("wrong_platform", { supportedPlatforms: ["desktop"] }, () => {});
// @ts-expect-error: a boolean
trailblaze.tool("wrong_meta", { _meta: { "trailblaze/isRecordable": "no" } }, () => {});
// @ts-expect-error: no number
trailblaze.tool("wrong_result", {}, () => 7);

export const called = anObject({ id: 1 }, undefined, mockClient());
// @ts-expect-error: a number
anObject({ id: "1" }, undefined, mockClient());

export async function commands(client: TrailblazeClient, tools: Tools, handler: Handler): Promise<void> {
  same<boolean, Awaited<ReturnType<typeof client.isVisible>>>(true);
  same<string | undefined, Awaited<ReturnType<typeof client.getElementText>>>(true);
  await client.tap({ text: "Sign in", index: 0 });
  await client.inputText("Ada");
  await client.mobile.swipe("up", { durationMs: 300 });
  await client.web.click("#save");
  const { text, title } = await client.captureScreen();
  same<typeof text, string>(true);
  same<typeof title, string | undefined>(true);
  const total: number = await tools.shop_total({ currency: "EUR" });
  await handler({ total }, fromMeta({}), mockClient({ commands: { isVisible: true } }), { signal: AbortSignal.abort(), mcp: undefined });
  // @ts-expect-error: no such direction
  await client.mobile.swipe("sideways");
  // @ts-expect-error: no such option
  await client.tap({ label: "x" });
  // @ts-expect-error: swipe is mobile's
  await client.swipe("up");
  // @ts-expect-error: no such command
  mockClient({ commands: { isVisble: true } });
}
