import { NO_DEVICE, Orchestrator, type Backend, type ToolCallResult } from "./backend.js";
import { fromMeta, type TrailblazeContext } from "./context.js";
import { COMMANDS, Commands, type Method, type ScreenState } from "./generated/commands.js";

/** A tool, called with its arguments. Returns its structured content, or else its text. */
export type ToolFunction = (args?: any) => Promise<any>;

/** Every tool by its name. Declare those you know by merging into this interface. */
export interface Tools {
  [name: string]: ToolFunction;
}

/** What is on the screen, with its picture and its tree. */
export interface Screen extends ScreenState {
  /** The picture, as PNG. */
  screenshot(): Promise<Buffer>;
  /** The tree of elements. */
  tree(): Promise<any>;
}

/** Names that JavaScript looks up by itself, and that are no tools therefore. */
const NOT_TOOLS = new Set(["then", "catch", "finally", "constructor", "prototype", "__proto__", "toString", "valueOf", "toJSON"]);

/** Where the MCP SDK puts the `_meta` and the signal of a request: version 1 at the top, version 2 in `mcpReq`. */
interface RequestExtra {
  _meta?: unknown;
  signal?: AbortSignal | undefined;
  mcpReq?: { _meta?: unknown; signal?: AbortSignal | undefined };
}

/** Acts on the device that a tool was called for: commands, `mobile`, `web`, and every tool. */
export class TrailblazeClient extends Commands {
  /** What the call is for; `undefined` outside of a session, where every command fails. */
  readonly context: TrailblazeContext | undefined;
  /** Every tool by its name: `await client.tools.inputText({ text: "Ada" })`. */
  readonly tools: Tools;
  readonly #backend: Backend;

  constructor(context: TrailblazeContext | undefined, backend: Backend) {
    super((method, request) => command(backend, method, request as Record<string, unknown>));
    this.context = context;
    this.#backend = backend;
    this.tools = new Proxy({} as Tools, {
      get: (_, name) => {
        if (typeof name === "symbol" || NOT_TOOLS.has(name)) return undefined;
        if (!name.trim()) throw new TypeError("a tool has a name");
        return async (args?: Record<string, unknown>) => {
          const result = await this.callTool(name, args);
          return result.structured_content ?? result.text_content;
        };
      },
    });
  }

  /**
   * The client of a call that the MCP SDK serves.
   * @param source The handler's second argument in either version of the SDK, or the `_meta` of the request.
   * @param options.signal Cancels what is in flight. The signal of the handler's argument when not given.
   */
  static fromContext(source: unknown, options: { signal?: AbortSignal | undefined } = {}): TrailblazeClient {
    const extra = (source ?? {}) as RequestExtra;
    const context = fromMeta(extra._meta ?? extra.mcpReq?._meta ?? source);
    return TrailblazeClient.of(context, options.signal ?? extra.signal ?? extra.mcpReq?.signal);
  }

  /** The client of a context. */
  static of(context: TrailblazeContext | undefined, signal?: AbortSignal): TrailblazeClient {
    const backend = context?.baseUrl === undefined ? NO_DEVICE : new Orchestrator(context.baseUrl, context, signal);
    return new TrailblazeClient(context, backend);
  }

  /** Calls a tool and returns the whole result. Throws a `ToolCallError` when the tool fails. */
  callTool(name: string, args: Record<string, unknown> = {}): Promise<ToolCallResult> {
    return this.#backend.tool(name, args);
  }

  override async captureScreen(): Promise<Screen> {
    const state = await super.captureScreen();
    // Not enumerable: a screen that is printed or returned is its data.
    return Object.defineProperties(state as Screen, {
      screenshot: { value: () => this.#backend.get(state.screenshotUrl) },
      tree: { value: async () => JSON.parse((await this.#backend.get(state.treeUrl)).toString()) },
    });
  }
}

async function command<T>(backend: Backend, method: Method, request: Record<string, unknown>): Promise<T> {
  const response = await backend.command(method, request);
  const entry: { returns: string; zero?: unknown } = COMMANDS[method];
  if (entry.returns === "nothing") return undefined as T;
  if (entry.returns === "message") return response as T;
  const value = response[entry.returns];
  return (value === undefined ? entry.zero : value) as T;
}
