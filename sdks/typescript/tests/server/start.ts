/** Starts the server of tests, as a host would, with either MCP SDK on both ends. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";

export type Generation = 1 | 2;

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const cwd = path("../..");

/** The command line of a server that finds this generation of the MCP SDK. */
export function commandLine(generation: Generation, ...flags: string[]): string[] {
  const hide = generation === 1 ? ["--import", path("only-sdk1.mjs")] : [];
  return ["--import", "tsx", ...hide, path("tools.ts"), ...flags];
}

/** What a stream has had so far. */
class Output {
  text = "";
  readonly #checks = new Set<(isOver: boolean) => void>();

  constructor(stream: any) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      this.text += text;
      for (const check of this.#checks) check(false);
    });
    stream.on("close", () => this.#checks.forEach((check) => check(true)));
  }

  /** Waits until there is a match, and returns it; fails when the stream ends without one. */
  says(pattern: RegExp): Promise<RegExpMatchArray> {
    return new Promise((resolve, reject) => {
      const check = (isOver: boolean) => {
        const match = this.text.match(pattern);
        if (match) resolve(match);
        else if (isOver) reject(new Error(`ended without ${pattern}: ${this.text}`));
        else return void this.#checks.add(check);
        this.#checks.delete(check);
      };
      check(false);
    });
  }
}

/** A process whose output is kept; the `using` block kills it. */
export class Process {
  readonly child: ChildProcess;
  readonly stdout: Output;
  readonly stderr: Output;

  constructor(args: string[], command = process.execPath, env: Record<string, string> = {}) {
    this.child = spawn(command, args, { cwd, stdio: "pipe", env: { ...process.env, ...env } });
    this.stdout = new Output(this.child.stdout);
    this.stderr = new Output(this.child.stderr);
  }

  send(...messages: object[]): void {
    this.child.stdin!.write(messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""));
  }

  /** The messages on standard output. Anything else there fails. */
  messages(): any[] {
    return this.stdout.text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  }

  async exit(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "close");
    return this.child.exitCode;
  }

  async [Symbol.asyncDispose]() {
    this.child.kill("SIGKILL");
    await this.exit();
  }
}

/** A server on HTTP, and where it is. */
export async function startHttp(generation: Generation): Promise<{ server: Process; url: URL }> {
  const server = new Process(commandLine(generation, "--transport", "http", "--port", "0"));
  const [, url] = await server.stderr.says(/listening on (\S+)/);
  return { server, url: new URL(url!) };
}

/** A connected client, of the same generation as the server, and what the server prints. */
export async function connect(generation: Generation, transport: "stdio" | "http") {
  const info = { name: "tests", version: "1" };
  const stdio = { command: process.execPath, args: commandLine(generation), cwd, stderr: "pipe" as const };
  const http = transport === "http" ? await startHttp(generation) : undefined;
  const to: any = generation === 1 ? (http ? new Http1(http.url) : new Stdio1(stdio)) : http ? new Http2(http.url) : new Stdio2(stdio);
  const client: any = generation === 1 ? new Client1(info) : new Client2(info);
  const stderr = http?.server.stderr ?? new Output(to.stderr);
  await client.connect(to);
  return {
    client: client as Client1,
    stderr,
    /** Calls a tool, with a context when `meta` is given. */
    call: (name: string, args: object = {}, meta?: object, options?: { signal?: AbortSignal; onprogress?: (progress: unknown) => void }): Promise<any> => {
      const params = { name, arguments: args, ...(meta && { _meta: meta }) } as any;
      return generation === 1 ? client.callTool(params, undefined, options) : client.callTool(params, options);
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await http?.server[Symbol.asyncDispose]();
    },
  };
}

/** The `_meta` of a call in a session. */
export function envelope(baseUrl: string, invocationId = "invocation-1") {
  const device = { id: "emulator-5554", platform: "android", widthPixels: 1080, heightPixels: 2400, driverType: "android-ondevice-accessibility" };
  return { trailblaze: { baseUrl, sessionId: `session-of-${invocationId}`, invocationId, device, memory: { who: "Ada" } } };
}
