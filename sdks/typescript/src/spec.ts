import type { Platform, TrailblazeContext } from "./context.js";
import type { TrailblazeClient } from "./client.js";
import type { ToolResult } from "./results.js";
import type { AnySchema, ArgumentsOf } from "./schema.js";

/** What Packtrain reads of a tool besides its schema. What is missing is as by default. */
export interface ToolMeta {
  /** Where it works; everywhere by default. */
  supportedPlatforms?: (Platform | Uppercase<Platform>)[];
  /** The drivers it works with; all by default. */
  supportedDrivers?: string[];
  /** It works only where this computer drives the device. */
  requiresHost?: boolean;
  /** It needs a device; for readers, it filters nothing. */
  requiresContext?: boolean;
  /** False: agents do not see it; steps and callbacks still reach it. */
  surfaceToLlm?: boolean;
  /** False: the calls it makes are recorded in its place. */
  isRecordable?: boolean;
  /** The toolset it belongs to. */
  toolset?: string;
}

/** {@link ToolMeta} as it is on the wire, besides whatever else a tool's `_meta` has. */
export type WireMeta = { [K in keyof ToolMeta as `trailblaze/${K}`]: ToolMeta[K] } & { "trailblaze/isForLlm"?: boolean; [key: string]: unknown };

/** A tool, without what it does. */
export interface ToolSpec<Input extends AnySchema = AnySchema> extends ToolMeta {
  /** What it does, for people and for models. */
  description?: string;
  /** A zod shape, a zod object or a JSON Schema; no arguments when not given. */
  inputSchema?: Input;
  /** The same for structured results. */
  outputSchema?: AnySchema;
  _meta?: WireMeta;
}

/** What a handler gets of the request besides. */
export interface ToolExtra {
  /** Aborts when the call is cancelled; the client's calls do so by themselves. */
  signal: AbortSignal;
  /** What the MCP SDK gives its own handlers. */
  mcp: unknown;
}

/** What a handler may return: a result, a text, or structured content. */
export type Returned = ToolResult | string | object | void;

/**
 * What a tool does. `ctx` is `undefined` outside of a session. What it throws makes the step fail
 * with the message.
 */
export type Handler<Input = Record<string, any>> = (
  args: Input,
  ctx: TrailblazeContext | undefined,
  client: TrailblazeClient,
  extra: ToolExtra,
) => Returned | Promise<Returned>;

/** A tool as it was declared. */
export interface Tool {
  name: string;
  spec: ToolSpec;
  handler: Handler<any>;
}

/** The handler's type for a schema. */
export type HandlerOf<Input extends AnySchema> = Handler<ArgumentsOf<Input>>;

/** A handler that tests call; without `extra`, nobody cancels it. */
export type Callable<Input = Record<string, any>> = (
  args: Input,
  ctx: TrailblazeContext | undefined,
  client: TrailblazeClient,
  extra?: ToolExtra,
) => Promise<Returned>;

const META_KEYS = ["supportedPlatforms", "supportedDrivers", "requiresHost", "requiresContext", "surfaceToLlm", "isRecordable", "toolset"] as const;

/** The `_meta` that a tool is advertised with. */
export function metaOf(spec: ToolSpec): Record<string, unknown> | undefined {
  const meta: Record<string, unknown> = { ...spec._meta };
  for (const key of META_KEYS) if (spec[key] !== undefined) meta[`trailblaze/${key}`] = spec[key];
  return Object.keys(meta).length ? meta : undefined;
}
