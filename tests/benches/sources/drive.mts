// A tool source written with the SDK: a tool that makes forty callbacks, and one that makes one.
import { trailblaze } from "@packtrain/sdk";

trailblaze.tool("bench_echo", { description: "Answers." }, () => "ok");
trailblaze.tool("bench_drive", { description: "Makes forty callbacks." }, async (_args, _ctx, client) => {
  for (let n = 0; n < 40; n++) await client.callTool("bench_act", {});
  return "ok";
});
trailblaze.tool("bench_step", { description: "Makes one callback." }, async (_args, _ctx, client) => {
  await client.callTool("bench_act", {});
  return "ok";
});
await trailblaze.run();
