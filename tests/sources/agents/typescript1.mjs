// An agent on the TypeScript SDK, version 1, which knows the older era only.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { target, turn } from "./turn.mjs";

const headers = { Authorization: `Bearer ${target.token}` };
const transport = target.url
  ? new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers } })
  : new StdioClientTransport(target);
let version;
const set = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (said) => (version = said, set?.(said));

const client = new Client({ name: "typescript1", version: "1" });
await client.connect(transport);
await turn({
  tools: (await client.listTools()).tools,
  version,
  call: (name, args) => client.callTool({ name, arguments: args }),
});
await transport.terminateSession?.();
await client.close();
