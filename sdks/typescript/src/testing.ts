/** What tests of tools need: a context and a client without a device and without a network. */

import type { Backend, ToolCallResult } from "./backend.js";
import { TrailblazeClient } from "./client.js";
import { fromMeta, type Target, type TrailblazeContext } from "./context.js";
import { CommandError, CommandFailedError, ToolCallError } from "./errors.js";
import { COMMANDS, type CommandName, type Method } from "./generated/commands.js";

/** What {@link mockContext} may be told to be. */
export type MockContext = Partial<Omit<TrailblazeContext, "memory" | "device" | "target">> & {
  device?: Partial<TrailblazeContext["device"]>;
  target?: Omit<Target, "resolveAppId" | "resolveBaseUrl">;
  memory?: Record<string, string>;
};

/** A context as on an Android emulator, with what is given in its place. */
export function mockContext({ device, ...given }: MockContext = {}): TrailblazeContext {
  return fromMeta({
    trailblaze: {
      baseUrl: "http://packtrain.invalid",
      sessionId: "mock-session",
      invocationId: "mock-invocation",
      memory: {},
      ...given,
      device: { id: "emulator-5554", platform: "android", widthPixels: 1080, heightPixels: 2400, driverType: "android-ondevice-accessibility", ...device },
    },
  })!;
}

/** A call that a mock client got: `name` is `tap` or `web.click` for a command, else the tool's. */
export interface MockCall {
  kind: "command" | "tool";
  name: string;
  args: Record<string, unknown>;
}

/** A value to return, a function of the arguments that returns it, or an `Error` to fail with. */
export type Stub = unknown;

/** Stubs by name. */
export interface Stubs {
  /** A text becomes `text_content`, anything else `structured_content`. */
  tools?: Record<string, Stub>;
  commands?: { [name in CommandName]?: Stub };
}

/** A client that records its calls. What has no stub passes and returns what is empty. */
export interface MockClient extends TrailblazeClient {
  /** The calls so far, in order. */
  readonly calls: MockCall[];
  /** Has a tool return this from now on. */
  stubTool(name: string, stub: Stub): void;
  /** Has a command return this from now on. */
  stubCommand(name: CommandName, stub: Stub): void;
}

/** A client for tests. */
export function mockClient({ tools = {}, commands = {} }: Stubs = {}, context: TrailblazeContext = mockContext()): MockClient {
  const backend = new MockBackend(new Map(Object.entries(tools)), new Map(Object.entries(commands)));
  return Object.assign(new TrailblazeClient(context, backend), {
    calls: backend.calls,
    stubTool: (name: string, stub: Stub) => void backend.tools.set(name, stub),
    stubCommand: (name: CommandName, stub: Stub) => void backend.commands.set(name, stub),
  });
}

class MockBackend implements Backend {
  readonly calls: MockCall[] = [];

  constructor(
    readonly tools: Map<string, Stub>,
    readonly commands: Map<string, Stub>,
  ) {}

  async command(method: Method, args: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { name, returns } = COMMANDS[method];
    this.calls.push({ kind: "command", name, args });
    const value = await returned(this.commands.get(name), args, (message) => new CommandFailedError(message, method, "failed_precondition"));
    if (returns !== "message") return { [returns]: value };
    return { width: 0, height: 0, text: "", screenshotUrl: "screenshot", treeUrl: "tree", ...(value as object | undefined) };
  }

  async tool(name: string, args: Record<string, unknown>): Promise<ToolCallResult> {
    this.calls.push({ kind: "tool", name, args });
    const value = await returned(this.tools.get(name), args, (message) => new ToolCallError(message, name));
    const content = value === undefined ? {} : typeof value === "string" ? { text_content: value } : { structured_content: value };
    return { type: "call_tool_result", success: true, ...content };
  }

  async get(url: string): Promise<Buffer> {
    return Buffer.from(url === "tree" ? "{}" : "");
  }
}

/** What a stub returns. A plain `Error` fails as the device would; a `CommandError` is thrown as it is. */
async function returned(stub: Stub, args: Record<string, unknown>, failure: (message: string) => Error): Promise<unknown> {
  const value: unknown = typeof stub === "function" ? await stub(args) : stub;
  if (!(value instanceof Error)) return value;
  throw value instanceof CommandError ? value : failure(value.message);
}
