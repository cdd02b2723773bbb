import { success, type TrailblazeClient } from "@packtrain/sdk";
import { z } from "zod";

/** What the tool takes. */
export const inputSchema = {
  open: z.string().describe("What to tap, by a part of its text"),
  expect: z.string().describe("What must appear then"),
};

/** Does it: the same on Android, iOS and web. */
export async function run({ open, expect }: { open: string; expect: string }, client: TrailblazeClient) {
  if (await client.isVisible({ text: expect })) return success(`${expect} was there already`);
  await client.tap({ text: open });
  await client.waitUntilVisible({ text: expect });
  return success(`Opened ${open}`);
}
