/** The MCP SDK, of either generation, behind one function: whichever is installed speaks the protocol. */

import type { Calls, CallParams } from "./calls.js";
import type { JsonSchemaValidator } from "./schema.js";

/** A JSON-RPC message. */
export interface Message {
  jsonrpc: "2.0";
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  [key: string]: unknown;
}

/** What carries messages, as both generations take it. */
export interface Transport {
  onmessage?: ((message: any, extra?: any) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  start(): Promise<void>;
  send(message: any, options?: { relatedRequestId?: string | number | undefined }): Promise<void>;
  close(): Promise<void>;
}

/** Name and version of a server. */
export interface ServerInfo {
  name: string;
  version: string;
}

/** What is needed of the MCP SDK. */
export interface McpSdk {
  validator: JsonSchemaValidator | undefined;
  /** Serves tools on a transport. */
  serve(info: ServerInfo, calls: Calls, transport: Transport): Promise<void>;
}

const OPTIONS = { capabilities: { tools: {} } };

/** Loads version 2 of the MCP SDK, or else version 1. */
export async function loadMcpSdk(): Promise<McpSdk> {
  const sdk = (await version2()) ?? (await version1());
  if (!sdk) throw new Error("no MCP SDK found: npm install @modelcontextprotocol/sdk (or @modelcontextprotocol/server)");
  return sdk;
}

async function version2(): Promise<McpSdk | undefined> {
  const sdk = await installed(import("@modelcontextprotocol/server"));
  if (!sdk) return undefined;
  const { AjvJsonSchemaValidator } = await import("@modelcontextprotocol/server/validators/ajv");
  return {
    validator: new AjvJsonSchemaValidator() as JsonSchemaValidator,
    async serve(info, calls, transport) {
      const server = new sdk.Server(info, OPTIONS);
      server.setRequestHandler("tools/list", () => ({ tools: calls.list() as any }));
      server.setRequestHandler("tools/call", (request, ctx) =>
        calls.call({ ...(request.params as CallParams), _meta: ctx.mcpReq._meta }, ctx.mcpReq.signal, ctx) as any);
      await server.connect(transport as any);
    },
  };
}

async function version1(): Promise<McpSdk | undefined> {
  const sdk = await installed(import("@modelcontextprotocol/sdk/server/index.js"));
  if (!sdk) return undefined;
  const { CallToolRequestSchema, ListToolsRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  // Early versions have no validator; JSON Schemas are not checked with them.
  const ajv = await installed(import("@modelcontextprotocol/sdk/validation/ajv"));
  return {
    validator: ajv && (new ajv.AjvJsonSchemaValidator() as JsonSchemaValidator),
    async serve(info, calls, transport) {
      const server = new sdk.Server(info, OPTIONS);
      server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: calls.list() as any }));
      server.setRequestHandler(CallToolRequestSchema, (request, extra) =>
        calls.call({ ...request.params, _meta: extra._meta }, extra.signal, extra) as any);
      await server.connect(transport as any);
    },
  };
}

/** A module, or `undefined` when it is not installed. */
async function installed<M>(module: Promise<M>): Promise<M | undefined> {
  try {
    return await module;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
