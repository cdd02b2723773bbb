/** A fake orchestrator on a real socket, for callbacks and commands. */

import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { TrailblazeClient } from "../src/client.js";
import { mockContext } from "../src/testing.js";

export interface Received {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: any;
  /** Resolves when the exchange is over, or its caller has gone. */
  closed: Promise<unknown>;
}

/** What is answered: nothing leaves the request open. */
export type Reply = { status?: number; body?: unknown } | undefined;

/** Starts one that answers what `reply` says, and ends with the `using` block. */
export async function orchestrator(reply: (request: Received) => Reply | Promise<Reply>) {
  const requests: Received[] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { method = "", url: path = "", headers } = request;
    const received = { method, path, headers, body: text ? JSON.parse(text) : undefined, closed: once(response, "close") };
    requests.push(received);
    const answer = await reply(received);
    if (!answer) return;
    const { status = 200, body = {} } = answer;
    const raw = typeof body === "string" || Buffer.isBuffer(body);
    response.writeHead(status, { "content-type": raw ? "text/plain" : "application/json" }).end(raw ? body : JSON.stringify(body));
  });
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl,
    requests,
    connections: () => connections,
    /** The client of a call that is made by this orchestrator. */
    client: (signal?: AbortSignal, ids: { sessionId?: string; invocationId?: string } = {}) =>
      TrailblazeClient.of(mockContext({ baseUrl, sessionId: "session-1", invocationId: "invocation-1", ...ids }), signal),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The answer to a callback whose tool passed. */
export const passed = (text?: string) => ({ body: { result: { type: "call_tool_result", success: true, ...(text !== undefined && { text_content: text }) } } });
