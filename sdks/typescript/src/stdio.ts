import type { Readable } from "node:stream";
import type { Message, Transport } from "./mcp.js";

/** What messages are written to. */
export type Output = Pick<NodeJS.WriteStream, "write" | "on">;

/** MCP over standard input and output: one message is one line. */
export class Stdio implements Transport {
  onmessage?: (message: Message) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  /** Resolves when standard input has ended. */
  readonly ended: Promise<void>;
  readonly #input: Readable;
  readonly #output: Output;
  #end!: () => void;

  constructor(input: Readable, output: Output) {
    this.#input = input;
    this.#output = output;
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  async start(): Promise<void> {
    let rest = "";
    this.#input.setEncoding("utf8");
    this.#input.on("data", (chunk: string) => {
      if (!chunk.includes("\n")) return void (rest += chunk);
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      for (const line of lines) this.#read(line);
    });
    // A broken pipe on either side means that nobody is there any more.
    for (const stream of [this.#input, this.#output]) stream.on("error", this.#end);
    this.#input.on("end", this.#end).on("close", this.#end);
  }

  async send(message: Message): Promise<void> {
    await this.#write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    // What was answered has to be out before the process ends.
    await this.#write("");
    this.#input.destroy();
    this.onclose?.();
  }

  #write(text: string): Promise<void> {
    return new Promise((resolve) => this.#output.write(text, () => resolve()));
  }

  #read(line: string): void {
    if (!line.trim()) return;
    try {
      this.onmessage?.(JSON.parse(line) as Message);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }
}
