/**
 * Serves the TypeScript tools of a trailmap, which nothing else has to be installed for. Each argument
 * that is a JSON object names a tool and the file that exports it; Packtrain writes this folder and
 * starts it with bun or tsx.
 */

import { Console } from "node:console";
import { readFileSync } from "node:fs";
import Module from "node:module";
import { pathToFileURL } from "node:url";
import { Calls } from "./calls.js";
import * as scripting from "./scripting.js";
import type { JsonSchema } from "./schema.js";
import { describe } from "./source.js";
import type { Handler, Tool } from "./spec.js";
import { asTyped } from "./typed.js";

/** What tools import their SDK as. */
const PACKAGE = "@trailblaze/scripting";

/** A tool as it is declared: by a trailmap, or by a descriptor of its own, which says what it takes. */
interface Declared {
  name: string;
  file: string;
  unusable?: string;
  description?: string;
  inputSchema?: JsonSchema;
  meta?: Record<string, unknown>;
}

/** Makes `@trailblaze/scripting` this folder's, whether a file is loaded as a module or by `require`. */
function provideSdk(): void {
  const { Bun } = globalThis as any;
  if (Bun) {
    const setup = (build: any) => build.module(PACKAGE, () => ({ exports: scripting, loader: "object" }));
    return Bun.plugin({ name: PACKAGE, setup });
  }
  const url = new URL("./scripting.ts", import.meta.url).href;
  const hook = `export const resolve = (name, context, next) => name === ${JSON.stringify(PACKAGE)} ? { url: ${JSON.stringify(url)}, shortCircuit: true } : next(name, context);`;
  Module.register(`data:text/javascript,${encodeURIComponent(hook)}`);
  const loader = Module as unknown as { _load(name: string, ...rest: unknown[]): unknown };
  const load = loader._load;
  loader._load = function (name, ...rest) {
    return name === PACKAGE ? scripting : load.call(this, name, ...rest);
  };
}

async function load({ name, file, unusable, description, inputSchema, meta }: Declared): Promise<Tool> {
  if (unusable) throw new Error(unusable);
  const module = await import(pathToFileURL(file).href);
  const value: unknown = module[name] ?? module.default?.[name];
  const typed = asTyped(value);
  if (typed) {
    const told = describe(readFileSync(file, "utf8"), name);
    const { trailhead: _, ...spec } = typed.spec as typeof typed.spec & { trailhead?: unknown };
    return { name, spec: { ...told, ...spec }, handler: typed.handler };
  }
  if (typeof value === "function") {
    const spec = { inputSchema: inputSchema ?? { type: "object" as const }, ...(description !== undefined && { description }), ...(meta && { _meta: meta }) };
    return { name, spec, handler: value as Handler };
  }
  throw new Error(`\`${name}\` is not exported as a tool`);
}

// What files print while they are loaded is not for the protocol.
globalThis.console = new Console({ stdout: process.stderr, stderr: process.stderr });
provideSdk();
// A file that ends the process, or leaves a promise behind, costs itself only.
const { exit } = process;
process.exit = (() => { throw new Error("it ends the process"); }) as typeof exit;
const log = (reason: unknown) => console.error(reason);
process.on("unhandledRejection", log);
for (const given of process.argv.slice(2).filter((arg) => arg.startsWith("{"))) {
  // What a descriptor leaves out is null.
  const declared = JSON.parse(given, (_, value) => value ?? undefined) as Declared;
  try {
    const tool = await load(declared);
    // A schema that cannot be read is found here.
    await Calls.of([tool], undefined);
    scripting.trailblaze.tool(tool.name, tool.spec, tool.handler);
  } catch (error) {
    const why = declared.unusable ?? `cannot load ${declared.file}: ${(error as Error)?.message ?? error}`;
    console.error(why);
    // It costs itself only: Packtrain answers its calls with the reason.
    if (/^[\w-]{1,64}$/.test(declared.name)) scripting.trailblaze.tool(declared.name, { description: why, surfaceToLlm: false, _meta: { "trailblaze/unusable": why } }, () => why);
  }
}
process.off("unhandledRejection", log);
process.exit = exit;
await scripting.trailblaze.run({ name: "packtrain-trailmap" });
