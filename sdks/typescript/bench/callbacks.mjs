// What a callback costs through the SDK, as a part of what it costs with fetch, against a bare HTTP
// echo of the callback's shape in a process of its own. Slices alternate within one run; the figure
// is the median of the slices' ratios.

import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

const SLICES = 60;
const CALLS = 100;
const WARM_UP = 2_000;

if (process.argv[2] === "echo") {
  const answer = JSON.stringify({ result: { type: "call_tool_result", success: true, text_content: "Typed Ada" } });
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      JSON.parse(text);
      response.writeHead(200, { "content-type": "application/json", "content-length": answer.length }).end(answer);
    });
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
  process.on("disconnect", () => process.exit());
} else {
  const { TrailblazeClient } = await import(process.env.PACKTRAIN_SDK ?? "../src/index.ts");
  const echo = fork(fileURLToPath(import.meta.url), ["echo"], { execArgv: [] });
  const [port] = await once(echo, "message");
  const baseUrl = `http://127.0.0.1:${port}`;
  const device = { id: "emulator-5554", platform: "android", widthPixels: 1080, heightPixels: 2400, driverType: "android-ondevice-accessibility" };
  const on = { baseUrl, sessionId: "20261122-093015-k3f9_s1", invocationId: "7d1f0a52-3f0e-4a34-9b5c-6a3b8a0f2c11", device, memory: {} };
  // With a signal, as in a handler.
  const client = TrailblazeClient.fromContext({ _meta: { trailblaze: on }, signal: new AbortController().signal });

  const bySdk = () => client.callTool("inputText", { text: "Ada" });
  const byFetch = async () => {
    const response = await fetch(`${baseUrl}/scripting/callback`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        version: 1,
        session_id: on.sessionId,
        invocation_id: on.invocationId,
        action: { type: "call_tool", tool_name: "inputText", arguments_json: JSON.stringify({ text: "Ada" }) },
      }),
    });
    const { result } = await response.json();
    if (!result.success) throw new Error(result.error_message);
    return result;
  };

  const quantile = (values, q) => [...values].sort((a, b) => a - b)[Math.floor(values.length * q)];
  /** The p50 of a slice, in microseconds. */
  const slice = async (call) => {
    const times = [];
    for (let i = 0; i < CALLS; i++) {
      const start = performance.now();
      await call();
      times.push((performance.now() - start) * 1_000);
    }
    return quantile(times, 0.5);
  };

  for (let i = 0; i < WARM_UP; i++) await (i % 2 ? bySdk() : byFetch());
  const slices = [];
  for (let i = 0; i < SLICES; i++) {
    const pair = {};
    for (const [name, call] of i % 2 ? [["sdk", bySdk], ["fetch", byFetch]] : [["fetch", byFetch], ["sdk", bySdk]]) pair[name] = await slice(call);
    slices.push(pair);
  }
  const row = (values, digits) => [0.1, 0.5, 0.9].map((q) => quantile(values, q).toFixed(digits).padStart(7)).join("");
  console.log(`                    p10    p50    p90`);
  console.log(`sdk, µs         ${row(slices.map(({ sdk }) => sdk), 1)}`);
  console.log(`fetch, µs       ${row(slices.map((pair) => pair.fetch), 1)}`);
  console.log(`sdk ÷ fetch     ${row(slices.map(({ sdk, fetch }) => sdk / fetch), 3)}`);
  echo.disconnect();
  process.exit();
}
