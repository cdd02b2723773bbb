// A tool source in TypeScript with one tool that makes forty callbacks over connections that stay open.
import http from "node:http";
import { parseArgs } from "node:util";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { randomUUID } from "node:crypto";

const agent = new http.Agent({ keepAlive: true, maxSockets: 1024 });

function post(url: URL, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: "POST", agent, headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => (text += part)).on("end", () => resolve(text));
    });
    request.on("error", reject).end(body);
  });
}

function server(): McpServer {
  const mcp = new McpServer({ name: "drive", version: "1.0.0" });
  mcp.registerTool("bench_echo", { description: "Answers." }, async () => ({ content: [{ type: "text", text: "ok" }] }));
  mcp.registerTool("bench_drive", { description: "Makes forty callbacks." }, async (extra) => {
    const { baseUrl, sessionId, invocationId } = (extra._meta as any).trailblaze;
    const url = new URL("/scripting/callback", baseUrl);
    const body = JSON.stringify({ version: 1, session_id: sessionId, invocation_id: invocationId, action: { type: "call_tool", tool_name: "bench_act", arguments_json: "{}" } });
    for (let n = 0; n < 40; n++) {
      const answer = JSON.parse(await post(url, body));
      if (!answer.result.success) throw new Error(JSON.stringify(answer));
    }
    return { content: [{ type: "text", text: "ok" }] };
  });
  return mcp;
}

const { values } = parseArgs({ options: { transport: { type: "string" }, port: { type: "string" } } });
const sessions = new Map<string, StreamableHTTPServerTransport>();
http
  .createServer(async (request, response) => {
    let transport = sessions.get(String(request.headers["mcp-session-id"]));
    if (!transport) {
      transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, enableJsonResponse: true, onsessioninitialized: (id) => void sessions.set(id, transport!) });
      await server().connect(transport);
    }
    await transport.handleRequest(request, response);
  })
  .listen(Number(values.port), "127.0.0.1");
