// An agent on the TypeScript SDK, version 2, in either era.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { era, target, turn } from "./turn.mjs";

const headers = { Authorization: `Bearer ${target.token}` };
const transport = target.url
  ? new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers } })
  : new StdioClientTransport(target);
const mode = era === "modern" ? { pin: "2026-07-28" } : era;

const client = new Client({ name: "typescript2", version: "1" }, { versionNegotiation: { mode } });
await client.connect(transport);
await turn({
  tools: (await client.listTools()).tools,
  version: client.getNegotiatedProtocolVersion(),
  call: (name, args) => client.callTool({ name, arguments: args }),
});
await transport.terminateSession?.();
await client.close();
