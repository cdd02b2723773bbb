// A tool source on the TypeScript SDK, over HTTP: types a word twenty times on the device of its call.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { randomUUID } from "node:crypto";
import { z } from "zod";

function createServer() {
  const server = new McpServer({ name: "mark-ts", version: "1.0.0" });
  const inputSchema = { word: z.string() };
  server.registerTool("mark_ts", { description: "Types.", inputSchema }, async ({ word }, { _meta }) => {
    const on = _meta!.trailblaze as { baseUrl: string; sessionId: string; invocationId: string };
    for (let n = 0; n < 20; n++) {
      const args = { text: `${word}t${n};`, hideKeyboardAfter: false };
      const action = { type: "call_tool", tool_name: "inputText", arguments_json: JSON.stringify(args) };
      const body = JSON.stringify({ version: 1, session_id: on.sessionId, invocation_id: on.invocationId, action });
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${on.baseUrl}/scripting/callback`, { method: "POST", headers, body });
      const { result } = await response.json();
      if (!result.success) throw new Error(result.error_message ?? result.message);
    }
    return { content: [{ type: "text", text: `${process.pid}` }] };
  });
  return server;
}

const sessions = new Map<string, StreamableHTTPServerTransport>();
createMcpExpressApp().all("/mcp", async (request, response) => {
  const id = request.header("mcp-session-id");
  let transport = sessions.get(id ?? "");
  if (id && !transport) return void response.status(404).end();
  if (!transport) {
    const opened = transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, opened),
    });
    await createServer().connect(transport);
  }
  await transport.handleRequest(request, response, request.body);
}).listen(Number(process.argv[process.argv.indexOf("--port") + 1]), "127.0.0.1");
