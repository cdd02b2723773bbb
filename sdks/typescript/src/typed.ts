/** Trailblaze's typed form of a tool: `export const NAME = trailblaze.tool<Input>(spec, handler)`, named by its export. */

import type { TrailblazeClient } from "./client.js";
import type { Device, Target, TrailblazeContext } from "./context.js";
import { Memory } from "./memory.js";
import { success } from "./results.js";
import type { Handler, Returned, ToolSpec } from "./spec.js";

/** What the handler of a typed tool gets besides its arguments. */
export interface ToolContext {
  /** Every tool by its name. */
  tools: TrailblazeClient["tools"];
  client: TrailblazeClient;
  memory: Memory;
  /** `undefined` outside of a session, as `target`. */
  device: Device | undefined;
  target: Target | undefined;
}

/** What a typed tool does. A value that is neither a text nor an object becomes JSON. */
export type TypedHandler<Input, Output> = (input: Input, ctx: ToolContext) => Output | Promise<Output>;

/** A typed tool: callable by tests, served under the name of its export. */
export type TypedTool<Input = any> = (args: Input, ctx: TrailblazeContext | undefined, client: TrailblazeClient) => Promise<Returned>;

/** Where a typed tool keeps its spec; by this name in every copy of the SDK. */
const SPEC = Symbol.for("packtrain.typedTool");

/** Makes a typed tool. */
export function typed<Input, Output>(spec: ToolSpec, handler: TypedHandler<Input, Output>): TypedTool<Input> {
  if (typeof handler !== "function") throw new TypeError("invalid tool: expected tool(name, spec, handler), tool(spec, handler) or tool(handler)");
  const tool = async (args: Input, ctx: TrailblazeContext | undefined, client: TrailblazeClient): Promise<Returned> => {
    const memory = ctx?.memory ?? new Memory();
    const value: unknown = await handler(args, { tools: client.tools, client, memory, device: ctx?.device, target: ctx?.target });
    const isPlain = value === undefined || value === null || typeof value === "string" || (typeof value === "object" && !Array.isArray(value));
    return isPlain ? (value as Returned) : success(JSON.stringify(value));
  };
  return Object.assign(tool, { [SPEC]: spec });
}

/** The spec and the handler of a typed tool, or `undefined` for any other value. */
export function asTyped(value: unknown): { spec: ToolSpec; handler: Handler } | undefined {
  if (typeof value !== "function" || !(SPEC in value)) return undefined;
  return { spec: value[SPEC] as ToolSpec, handler: value as unknown as Handler };
}
