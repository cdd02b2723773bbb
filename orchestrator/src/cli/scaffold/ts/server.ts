// Serves the tools of this folder. Packtrain starts it; more tools are registered here.
import { trailblaze } from "@packtrain/sdk";
import { inputSchema, run } from "./__NAME__.ts";

trailblaze.tool(
  "__NAME__",
  { description: "Taps something by its text and waits until another text appears.", inputSchema },
  (args, _context, client) => run(args, client),
);
await trailblaze.run();
