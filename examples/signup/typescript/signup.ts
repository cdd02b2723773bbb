// The sign-up tool in TypeScript. With `--transport http --port N` it serves any number of devices at
// once; without, it speaks over standard input and output.
import { trailblaze } from "@packtrain/sdk";
import { z } from "zod";

trailblaze.tool(
  "shop_signUpTs",
  {
    description: "Creates an account in the shop, from the sign-in screen.",
    inputSchema: { name: z.string(), email: z.string() },
    requiresContext: true,
  },
  async ({ name, email }, _context, client) => {
    await client.tap({ text: "Create account" });
    await client.tap({ text: "Full name" });
    await client.inputText(name);
    await client.tap({ text: "Email" });
    await client.inputText(email);
    await client.tap({ text: "Sign up" });
    await client.assertVisible({ text: `Welcome, ${name}` });
    return `Signed up ${name}`;
  },
);
await trailblaze.run();
