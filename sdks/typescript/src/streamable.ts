/** MCP over Streamable HTTP. An answer is JSON, or a stream when something is sent before it. */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import type { Message, Transport } from "./mcp.js";

/** The longest message that is read, in bytes. */
const MAX_BODY = 16 * 1024 * 1024;
/** How long an unused connection stays: longer than clients keep theirs. */
const KEEP_ALIVE_TIMEOUT = 600_000;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** One client's session. */
class Session implements Transport {
  onmessage?: (message: Message) => void;
  onclose?: () => void;
  readonly sessionId = randomUUID();
  /** Requests that wait for an answer, by id. */
  readonly #waiting = new Map<string | number, ServerResponse>();

  async start(): Promise<void> {}

  async close(): Promise<void> {
    for (const response of this.#waiting.values()) response.destroy();
    this.onclose?.();
  }

  async send(message: Message, options?: { relatedRequestId?: string | number | undefined }): Promise<void> {
    if (message.method !== undefined || message.id === undefined) {
      // What belongs to no request has no stream to go to.
      const related = this.#waiting.get(options?.relatedRequestId ?? "");
      if (related) event(related, message, this.sessionId);
      return;
    }
    const response = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (!response) return;
    if (response.headersSent) {
      event(response, message, this.sessionId);
      response.end();
    } else json(response, 200, message, this.sessionId);
  }

  receive(message: Message, response: ServerResponse): void {
    if (message.method !== undefined && message.id !== undefined) this.#waiting.set(message.id, response);
    else response.writeHead(202).end();
    if (message.method === "notifications/cancelled") {
      // The request gets no answer otherwise, and its exchange would stay open.
      void this.send({ jsonrpc: "2.0", id: message.params?.requestId as string, error: { code: -32000, message: "Request cancelled" } });
    }
    this.onmessage?.(message);
  }
}

/** Whether the MCP SDK reads it: what it does not read it does not answer either. */
function isMessage(value: unknown): value is Message {
  if (typeof value !== "object" || value === null) return false;
  const { jsonrpc, id, method, params } = value as Record<string, unknown>;
  const isId = id === undefined || typeof id === "string" || Number.isSafeInteger(id);
  return jsonrpc === "2.0" && isId && (method === undefined || typeof method === "string") && (params === undefined || (typeof params === "object" && params !== null));
}

function event(response: ServerResponse, message: Message, session: string): void {
  if (!response.headersSent) {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache", "mcp-session-id": session });
  }
  response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

function json(response: ServerResponse, status: number, value: unknown, session?: string): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...(session !== undefined && { "mcp-session-id": session }),
  });
  response.end(body);
}

function refuse(response: ServerResponse, status: number, message: string, code = -32000): void {
  json(response, status, { jsonrpc: "2.0", id: null, error: { code, message } });
}

/** Serves `/mcp` on a port; `connect` puts a server behind each session. */
export async function listen(host: string, port: number, connect: (session: Transport) => Promise<void>): Promise<Server> {
  const sessions = new Map<string, Session>();
  const isOpen = !LOOPBACK.has(host) && host !== "::1";

  /** Whether the request was meant for this server: a page of the web may have a name for 127.0.0.1. */
  const isOurs = (name: string) => LOOPBACK.has(name) || (isOpen && (name === host || isIP(name.replace(/^\[|\]$/g, "")) !== 0));

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origin, host: named = "" } = request.headers;
    if (!isOurs(hostnameOf(`http://${named}`))) return refuse(response, 403, `this server is not ${named}`);
    if (origin !== undefined && !isOurs(hostnameOf(origin))) return refuse(response, 403, `${origin} may not call this server`);
    if (request.url?.split("?")[0] !== "/mcp") return refuse(response, 404, "the path is /mcp");
    const session = sessions.get(String(request.headers["mcp-session-id"]));
    if (request.method === "POST") return post(request, response, session);
    if (request.method !== "DELETE") return refuse(response, 405, "Method not allowed");
    if (!session) return refuse(response, 404, "Session not found", -32001);
    sessions.delete(session.sessionId);
    await session.close();
    response.writeHead(200).end();
  }

  async function post(request: IncomingMessage, response: ServerResponse, session: Session | undefined): Promise<void> {
    if (!request.headers["content-type"]?.startsWith("application/json")) return refuse(response, 415, "the content type is application/json");
    const body = await read(request);
    if (body === undefined) return refuse(response, 413, `a message has at most ${MAX_BODY} bytes`);
    let message: unknown;
    try {
      message = JSON.parse(body);
    } catch (error) {
      return refuse(response, 400, `Parse error: ${(error as Error).message}`, -32700);
    }
    if (!isMessage(message)) return refuse(response, 400, "Invalid Request: one JSON-RPC message", -32600);
    if (session) return session.receive(message, response);
    if (request.headers["mcp-session-id"] !== undefined) return refuse(response, 404, "Session not found", -32001);
    if (message.method !== "initialize") return refuse(response, 400, "no mcp-session-id, and this is no initialize");
    const opened = new Session();
    await connect(opened);
    sessions.set(opened.sessionId, opened);
    opened.receive(message, response);
  }

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT, requestTimeout: 0 }, (request, response) => {
    handle(request, response).catch((error: Error) => {
      console.error(error);
      if (response.headersSent) response.destroy();
      else refuse(response, 500, "Internal error", -32603);
    });
  });
  server.on("close", () => sessions.forEach((session) => void session.close()));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return server;
}

function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : "";
}

/** The body as text, or `undefined` when it is too long. */
async function read(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
