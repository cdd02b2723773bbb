/** What a client sends, and to whom: the orchestrator of a context, or nobody. */

import { setMaxListeners } from "node:events";
import type { TrailblazeContext } from "./context.js";
import { CommandError, errorOf, InvocationEndedError, ToolCallError, unreadable } from "./errors.js";
import { COMMANDS, type Method } from "./generated/commands.js";
import { send, type HttpAnswer } from "./http.js";

/** The answer to a tool that was called and passed. */
export interface ToolCallResult {
  type: "call_tool_result";
  success: true;
  text_content?: string;
  structured_content?: unknown;
}

/** Where a client's calls go. */
export interface Backend {
  /** Carries a command out and returns its response message. */
  command(method: Method, request: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Calls a tool. */
  tool(name: string, args: Record<string, unknown>): Promise<ToolCallResult>;
  /** Fetches what a screen refers to. */
  get(url: string): Promise<Buffer>;
}

type Json = Record<string, unknown>;

function parsed(command: string, { status, body }: HttpAnswer): Json {
  const text = body.toString();
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  } catch {
    // Told below.
  }
  throw unreadable(command, status, text);
}

function failed(command: string, answer: HttpAnswer): CommandError {
  const { code, message } = parsed(command, answer);
  if (typeof code !== "string") return unreadable(command, answer.status, answer.body.toString());
  return errorOf(code, typeof message === "string" && message ? message : `${command}: ${code}`, command);
}

/** Calls the orchestrator for as long as a tool call is in flight. */
export class Orchestrator implements Backend {
  readonly #origin: string;
  readonly #signal: AbortSignal | undefined;
  readonly #authorization: string;
  /** A callback's body up to the tool's name. */
  readonly #callback: string;

  constructor(baseUrl: string, context: TrailblazeContext, signal?: AbortSignal) {
    // A call may have any number of commands in flight, each of which listens.
    if (signal) setMaxListeners(0, signal);
    this.#origin = new URL(baseUrl).origin;
    this.#signal = signal;
    this.#authorization = `Bearer ${context.invocationId}`;
    const ids = JSON.stringify({ version: 1, session_id: context.sessionId, invocation_id: context.invocationId });
    this.#callback = `${ids.slice(0, -1)},"action":{"type":"call_tool","tool_name":`;
  }

  async command(method: Method, request: Json): Promise<Json> {
    const answer = await this.#send(method, "POST", `/packtrain.v1.Commands/${method}`, JSON.stringify(onTheWire(method, request)), [
      "content-type", "application/json", "connect-protocol-version", "1", "authorization", this.#authorization,
    ]);
    if (answer.status !== 200) throw failed(method, answer);
    return parsed(method, answer);
  }

  async tool(name: string, args: Json): Promise<ToolCallResult> {
    const body = `${this.#callback}${JSON.stringify(name)},"arguments_json":${JSON.stringify(JSON.stringify(args))}}}`;
    const answer = await this.#send(name, "POST", "/scripting/callback", body, ["content-type", "application/json"]);
    const result = answer.status === 200 ? (parsed(name, answer).result as Json | undefined) : undefined;
    if (result?.type === "call_tool_result") {
      if (result.success === true) return result as unknown as ToolCallResult;
      throw new ToolCallError(String(result.error_message || `\`${name}\` failed without a message`), name);
    }
    if (result?.type !== "error") throw unreadable(name, answer.status, answer.body.toString());
    const message = String(result.message);
    if (message.includes("not found or no longer in flight")) throw new InvocationEndedError(message, name, "unauthenticated");
    throw new CommandError(message, name, "unknown");
  }

  async get(url: string): Promise<Buffer> {
    // Only the path counts: the credential goes nowhere but to the orchestrator.
    const { pathname, search } = new URL(url, this.#origin);
    const answer = await this.#send("CaptureScreen", "GET", pathname + search, undefined, ["authorization", this.#authorization]);
    if (answer.status !== 200) throw failed("CaptureScreen", answer);
    return answer.body;
  }

  #send(command: string, method: "GET" | "POST", path: string, body: string | undefined, headers: string[]): Promise<HttpAnswer> {
    return send({ command, origin: this.#origin, method, path, headers, signal: this.#signal, ...(body !== undefined && { body }) });
  }
}

/** A request as it is sent: enums have their prefix. */
function onTheWire(method: Method, request: Json): Json {
  const entry = COMMANDS[method];
  if (!("enums" in entry)) return request;
  const sent = { ...request };
  for (const [field, prefix] of Object.entries(entry.enums)) {
    if (sent[field] !== undefined) sent[field] = prefix + String(sent[field]).toUpperCase();
  }
  return sent;
}

async function refuse(command: string): Promise<never> {
  const message = `${command} needs a device: call the tool from a Packtrain session, where its request has \`_meta.trailblaze\` with a baseUrl`;
  throw new CommandError(message, command, "failed_precondition");
}

/** Refuses everything: the tool was called outside of a session. */
export const NO_DEVICE: Backend = { command: refuse, tool: refuse, get: refuse };
