import { Console } from "node:console";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { Calls } from "./calls.js";
import { closeConnections } from "./http.js";
import { loadMcpSdk, type ServerInfo, type Transport } from "./mcp.js";
import type { AnySchema, ArgumentsOf } from "./schema.js";
import type { Callable, HandlerOf, Tool, ToolSpec } from "./spec.js";
import { Stdio, type Output } from "./stdio.js";
import { listen } from "./streamable.js";
import { typed, type TypedHandler, type TypedTool } from "./typed.js";

/** How long the process may go on after the last call, for what its author cleans up. */
const CLEANUP_GRACE = 1_000;

const tools = new Map<string, Tool>();
let isServing = false;

/**
 * Declares a tool, and returns its handler, for tests. The name is `{app}_{verbNoun}`, with letters,
 * digits, `_` and `-`, at most 64. Throws a `TypeError` for another name, one that was declared
 * already, and once `run` was called.
 *
 * Without a name it is a typed tool of a trailmap, which Packtrain serves under the name of its export.
 */
function tool<Input extends AnySchema = {}>(name: string, spec: ToolSpec<Input>, handler: HandlerOf<Input>): Callable<ArgumentsOf<Input>>;
function tool<Input = Record<string, never>, Output = string>(spec: ToolSpec, handler: TypedHandler<Input, Output>): TypedTool<Input>;
function tool<Input = Record<string, never>, Output = string>(handler: TypedHandler<Input, Output>): TypedTool<Input>;
function tool(...given: unknown[]): unknown {
  const [first, second, third] = given as [any, any, any];
  if (typeof first === "string") return declare(first, second, third);
  return typeof first === "function" ? typed({}, first) : typed(first, second);
}

function declare(name: string, spec: ToolSpec, handler: HandlerOf<any>): Callable {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) throw new TypeError(`\`${name}\` is not a tool name: 1 to 64 letters, digits, _ and -`);
  if (tools.has(name)) throw new TypeError(`two tools are called \`${name}\``);
  if (isServing) throw new TypeError(`\`${name}\` is declared after run()`);
  tools.set(name, { name, spec, handler });
  return async (args, ctx, client, extra = { signal: new AbortController().signal, mcp: undefined }) => handler(args, ctx, client, extra);
}

/**
 * Serves the tools: on standard input and output until the input ends, or on HTTP until SIGTERM with
 * `--transport http --port N [--host H]` on the command line. Resolves when serving has ended.
 */
async function run({ name = "packtrain-tools", version = "0.0.0" }: Partial<ServerInfo> = {}): Promise<void> {
  const { transport, host, port } = flags();
  isServing = true;
  const output = keepStdoutClean();
  // What a call left behind must not end the calls of other devices.
  process.on("unhandledRejection", (reason) => console.error("a promise that nobody waited for was rejected:", reason));
  const sdk = await loadMcpSdk();
  const calls = await Calls.of(tools.values(), sdk.validator);
  const connect = (to: Transport) => sdk.serve({ name, version }, calls, to);
  if (transport === "http") await serveHttp(host, port, connect);
  else await serveStdio(output, calls, connect);
  await closeConnections();
  // A timer or a socket that a tool left behind must not hold the process.
  setTimeout(() => process.exit(), CLEANUP_GRACE).unref();
}

async function serveStdio(output: Output, calls: Calls, connect: (to: Transport) => Promise<void>): Promise<void> {
  const stdio = new Stdio(process.stdin, output);
  await connect(stdio);
  await stdio.ended;
  // Requests that were read last are calls only after a turn of the loop, and so are their answers.
  await nextTurn();
  await calls.idle();
  await nextTurn();
  await stdio.close();
}

async function serveHttp(host: string, port: number, connect: (to: Transport) => Promise<void>): Promise<void> {
  const server = await listen(host, port, connect);
  const { address, port: bound, family } = server.address() as AddressInfo;
  console.error(`listening on http://${family === "IPv6" ? `[${address}]` : address}:${bound}/mcp`);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

function flags(): { transport: string; host: string; port: number } {
  const { values } = parseArgs({
    options: { transport: { type: "string", default: "stdio" }, port: { type: "string" }, host: { type: "string", default: "127.0.0.1" } },
    strict: false,
  });
  const { transport, host } = values as { transport: string; host: string };
  if (transport !== "stdio" && transport !== "http") throw new TypeError(`--transport ${transport}: must be stdio or http`);
  const port = Number(values.port ?? NaN);
  if (transport === "http" && !(Number.isInteger(port) && port >= 0 && port < 65536)) throw new TypeError("--transport http needs --port N");
  return { transport, host, port };
}

/** Sends what is printed to standard error, and returns the standard output that MCP has for itself. */
function keepStdoutClean(): Output {
  const { stdout, stderr } = process;
  const output = { write: stdout.write.bind(stdout), on: stdout.on.bind(stdout) } as Output;
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  globalThis.console = new Console({ stdout: stderr, stderr });
  return output;
}

/** Declares tools and serves them. */
export const trailblaze = { tool, run };
