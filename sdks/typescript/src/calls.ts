/** Calls of tools, whatever brings them: arguments are checked, the handler runs, its value becomes a result. */

import { TrailblazeClient } from "./client.js";
import { fromMeta } from "./context.js";
import { CommandError } from "./errors.js";
import { error, success, type ToolResult } from "./results.js";
import { prepare, type JsonSchemaValidator, type Schema } from "./schema.js";
import { metaOf, type Returned, type Tool } from "./spec.js";

/** The argument in which older hosts send the context. No handler sees it. */
const CONTEXT_ARGUMENT = "_trailblazeContext";

interface Ready {
  tool: Tool;
  input: Schema;
  output: Schema | undefined;
}

/** The `params` of a `tools/call`. */
export interface CallParams {
  name: string;
  arguments?: Record<string, unknown> | undefined;
  _meta?: unknown;
}

/** Tools that are ready to be called. */
export class Calls {
  readonly #tools = new Map<string, Ready>();
  readonly #running = new Set<Promise<ToolResult>>();

  /** Makes tools ready. */
  static async of(tools: Iterable<Tool>, validator: JsonSchemaValidator | undefined): Promise<Calls> {
    const calls = new Calls();
    for (const tool of tools) {
      const { inputSchema = {}, outputSchema } = tool.spec;
      const output = outputSchema && (await prepare(outputSchema, "output", validator));
      calls.#tools.set(tool.name, { tool, input: await prepare(inputSchema, "input", validator), output });
    }
    return calls;
  }

  /** The tools, as `tools/list` answers. */
  list(): Record<string, unknown>[] {
    return [...this.#tools.values()].map(({ tool: { name, spec }, input, output }) => {
      const _meta = metaOf(spec);
      return {
        name,
        ...(spec.description !== undefined && { description: spec.description }),
        inputSchema: input.json,
        ...(output && { outputSchema: output.json }),
        ...(_meta && { _meta }),
      };
    });
  }

  /** Calls a tool. Never fails: an error is a result. */
  call(params: CallParams, signal: AbortSignal, mcp: unknown): Promise<ToolResult> {
    const call = this.#run(params, signal, mcp);
    this.#running.add(call);
    return call.finally(() => this.#running.delete(call));
  }

  /** Resolves when no call is in flight. */
  async idle(): Promise<void> {
    while (this.#running.size) await Promise.all(this.#running);
  }

  async #run({ name, arguments: given, _meta }: CallParams, signal: AbortSignal, mcp: unknown): Promise<ToolResult> {
    const ready = this.#tools.get(name);
    if (!ready) return error(`unknown tool \`${name}\``);
    const { [CONTEXT_ARGUMENT]: _, ...args } = given ?? {};
    let input: unknown;
    try {
      input = await ready.input.parse(args);
    } catch (wrong) {
      return error(`\`${name}\` was called with wrong arguments: ${messageOf(wrong)}`);
    }
    const ctx = fromMeta(_meta);
    try {
      const value = await ready.tool.handler(input, ctx, TrailblazeClient.of(ctx, signal), { signal, mcp });
      const result = resultOf(value);
      if (ready.output && result.structuredContent) await ready.output.parse(result.structuredContent);
      return ctx ? ctx.memory.addTo(result) : result;
    } catch (thrown) {
      // A command that failed says it all in its message; anything else may be a bug of the tool.
      if (!(thrown instanceof CommandError) && !signal.aborted) console.error(thrown);
      return error(messageOf(thrown));
    }
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
}

function resultOf(value: Returned): ToolResult {
  if (value === undefined || value === null) return success();
  if (typeof value === "string") return success(value);
  if (typeof value !== "object" || Array.isArray(value)) throw new TypeError(`a tool returns a result, a text or an object, not ${JSON.stringify(value)}`);
  return isResult(value) ? value : success(undefined, value as Record<string, unknown>);
}

function isResult(value: object): value is ToolResult {
  return "content" in value && Array.isArray(value.content) && value.content.every((item: unknown) => typeof (item as { type?: unknown } | null)?.type === "string");
}
