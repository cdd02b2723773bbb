/** What a tool returns. Each helper makes an MCP `CallToolResult`. */

/** The result of a tool, as in MCP. */
export interface ToolResult {
  content: { type: string; [key: string]: unknown }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
  [key: string]: unknown;
}

/** A tool to be called in place of the one that returns it. */
export interface Delegate {
  tool: string;
  args?: Record<string, unknown>;
}

const text = (value: string) => [{ type: "text", text: value }];

/** The tool passed. Without a message, the text is the value as JSON. */
export function success(message?: string, structured?: Record<string, unknown>): ToolResult {
  if (structured) return { content: text(message ?? JSON.stringify(structured)), structuredContent: structured };
  return { content: message === undefined ? [] : text(message) };
}

/** The step fails with this message. */
export function error(message: string): ToolResult {
  return { content: text(message), isError: true };
}

/** The whole trail ends with this message. */
export function fatalError(message: string): ToolResult {
  return { ...error(message), _meta: { trailblaze: { variant: "FatalError" } } };
}

/** The step fails, and is told which arguments are missing. */
export function missingRequiredArgs(missing: string[]): ToolResult {
  const message = `Missing required argument${missing.length === 1 ? "" : "s"}: ${missing.join(", ")}`;
  return { ...error(message), _meta: { trailblaze: { variant: "MissingRequiredArgs", missing } } };
}

/** These tools are called in order, and recorded, in place of this one. */
export function delegate(delegates: Delegate[]): ToolResult {
  const list = delegates.map(({ tool, args }) => ({ tool, args: args ?? {} }));
  return success(undefined, { success: true, _trailblaze_delegates: list });
}
