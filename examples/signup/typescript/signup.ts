// The sign-up tool in TypeScript. `--transport http --port N` serves it on loopback to any number
// of clients at once; without, it speaks over standard input and output.
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

type Context = { baseUrl: string; sessionId: string; invocationId: string; device: { platform: string } };

/** A function that calls a tool on the device of this invocation; the connection is kept alive. */
const caller = (context: Context, signal: AbortSignal) => async (tool: string, args: object) => {
  const response = await fetch(new URL("/scripting/callback", context.baseUrl), {
    method: "POST",
    signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      version: 1,
      session_id: context.sessionId,
      invocation_id: context.invocationId,
      action: { type: "call_tool", tool_name: tool, arguments_json: JSON.stringify(args) },
    }),
  });
  if (!response.ok) throw new Error(`${tool}: HTTP ${response.status}: ${await response.text()}`);
  const { result } = await response.json();
  if (!result.success) throw new Error(`${tool}: ${result.error_message ?? result.message}`);
};

function createServer() {
  const server = new McpServer({ name: "signup-ts", version: "1.0.0" });
  server.registerTool("shop_signUpTs", {
    description: "Creates an account in the shop, from the sign-in screen.",
    inputSchema: { name: z.string(), email: z.string() },
    _meta: { "trailblaze/supportedPlatforms": ["android", "ios", "web"], "trailblaze/requiresContext": true },
  }, async ({ name, email }, { _meta, signal }) => {
    const context = _meta?.trailblaze as Context | undefined;
    if (!context) throw new Error("needs a device: there is no _meta.trailblaze");
    const call = caller(context, signal);
    if (context.device.platform === "web") {
      await call("web_click", { ref: 'link "Create account"' });
      await call("web_type", { ref: 'textbox "Full name"', text: name });
      await call("web_type", { ref: 'textbox "Email"', text: email });
      await call("web_click", { ref: 'button "Sign up"' });
      await call("web_verifyTextVisible", { text: `Welcome, ${name}` });
    } else {
      await call("tapOnElementWithText", { text: "Create account" });
      await call("tapOnElementWithText", { text: "Full name" });
      await call("inputText", { text: name });
      await call("tapOnElementWithText", { text: "Email" });
      await call("inputText", { text: email });
      await call("tapOnElementWithText", { text: "Sign up" });
      await call("assertVisibleWithText", { text: `Welcome, ${name}` });
    }
    return { content: [{ type: "text", text: `Signed up ${name}` }] };
  });
  return server;
}

const { values } = parseArgs({ options: { transport: { type: "string" }, port: { type: "string" } } });
if (values.transport === "http") {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  createMcpExpressApp().all("/mcp", async (request, response) => {
    const id = request.header("mcp-session-id");
    let transport = sessions.get(id ?? "");
    if (id && !transport) return void response.status(404).end();
    if (!transport) {
      const opened = transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, opened),
        onsessionclosed: (id) => void sessions.delete(id),
      });
      await createServer().connect(transport);
    }
    await transport.handleRequest(request, response, request.body);
  }).listen(Number(values.port), "127.0.0.1");
} else {
  await createServer().connect(new StdioServerTransport());
}
