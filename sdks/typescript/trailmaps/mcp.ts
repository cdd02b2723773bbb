/** As much of the Model Context Protocol as tools need; stands in for `src/mcp.ts` beside the server, so that nothing is to be installed. */

import type { Calls, CallParams } from "./calls.js";
import type { McpSdk, Message, ServerInfo, Transport } from "../src/mcp.js";

/** Revisions whose tools are the same, newest first. */
const REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** The protocol as it is here; the orchestrator has checked the arguments. */
export async function loadMcpSdk(): Promise<McpSdk> {
  return { validator: undefined, serve };
}

async function serve(serverInfo: ServerInfo, calls: Calls, transport: Transport): Promise<void> {
  const running = new Map<unknown, AbortController>();

  async function call(id: string | number, params: Record<string, unknown>) {
    const controller = new AbortController();
    running.set(id, controller);
    return calls.call(params as unknown as CallParams, controller.signal, undefined).finally(() => running.delete(id));
  }

  async function answer(id: string | number, method: string, params: Record<string, unknown>): Promise<object | undefined> {
    const asked = String(params.protocolVersion);
    if (method === "initialize") return { protocolVersion: REVISIONS.includes(asked) ? asked : REVISIONS[0], capabilities: { tools: {} }, serverInfo };
    if (method === "ping") return {};
    if (method === "tools/list") return { tools: calls.list() };
    return method === "tools/call" ? call(id, params) : undefined;
  }

  transport.onmessage = async ({ id, method, params = {} }: Message) => {
    if (method === "notifications/cancelled") running.get(params.requestId)?.abort();
    if (id === undefined || method === undefined) return;
    const result = await answer(id, method, params);
    const outcome = result ? { result } : { error: { code: -32601, message: `Method not found: ${method}` } };
    await transport.send({ jsonrpc: "2.0", id, ...outcome }, { relatedRequestId: id });
  };
  transport.onclose = () => running.forEach((controller) => controller.abort());
  await transport.start();
}
