/** Packtrain's SDK for tools: declare them, serve them, and act on the device they are called for. */

export { trailblaze } from "./trailblaze.js";
export { TrailblazeClient, type Screen, type ToolFunction, type Tools } from "./client.js";
export type { ToolCallResult } from "./backend.js";
export { fromMeta, type Device, type Platform, type Target, type TrailblazeContext } from "./context.js";
export { Memory, type MemoryChanges } from "./memory.js";
export { delegate, error, fatalError, missingRequiredArgs, success, type Delegate, type ToolResult } from "./results.js";
export {
  CancelledError,
  CommandError,
  CommandFailedError,
  DeadlineError,
  DeviceUnavailableError,
  InvalidArgumentError,
  InvocationEndedError,
  ToolCallError,
  WrongPlatformError,
} from "./errors.js";
export type { Callable, Handler, Returned, ToolExtra, ToolMeta, ToolSpec, WireMeta } from "./spec.js";
export type { ToolContext, TypedHandler, TypedTool } from "./typed.js";
export type { AnySchema, ArgumentsOf, JsonSchema, Shape, StandardSchema } from "./schema.js";
export type * from "./generated/commands.js";
