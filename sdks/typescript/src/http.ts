/** HTTP to the orchestrator: one pool of kept-alive connections for the whole process. */

import type { Dispatcher } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";
import { CancelledError, DeadlineError, DeviceUnavailableError } from "./errors.js";

/** How long an unused connection is kept. */
const KEEP_ALIVE_TIMEOUT = 60_000;
/** How long an answer may take when the environment does not say. */
const DEFAULT_ANSWER_TIMEOUT = 122_000;

/** A request; `command` is what its errors are about. */
export interface HttpRequest {
  command: string;
  origin: string;
  method: "GET" | "POST";
  path: string;
  headers: string[];
  body?: string;
  signal?: AbortSignal | undefined;
}

/** An answer. */
export interface HttpAnswer {
  status: number;
  body: Buffer;
}

const pools = new Map<string, Pool>();

function answerTimeout(): number {
  const given = Number(process.env.TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS);
  return given > 0 ? given : DEFAULT_ANSWER_TIMEOUT;
}

function poolOf(origin: string): Pool {
  let pool = pools.get(origin);
  if (!pool) {
    const timeout = answerTimeout();
    // As many connections as there are requests: two of one device never wait for each other here.
    pool = new Pool(origin, { keepAliveTimeout: KEEP_ALIVE_TIMEOUT, headersTimeout: timeout, bodyTimeout: timeout });
    pools.set(origin, pool);
  }
  return pool;
}

/** Closes the connections. What is in flight fails. */
export async function closeConnections(): Promise<void> {
  const all = [...pools.values()];
  pools.clear();
  await Promise.all(all.map((pool) => pool.destroy()));
}

/** Sends a request, and fails with a `CommandError` when there is no answer. */
export function send({ command, origin, signal, ...request }: HttpRequest): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let status = 0;
    const chunks: Buffer[] = [];
    const onAbort = () => {
      const error = new CancelledError(`${command}: the tool call was cancelled`, command, "canceled");
      controller?.abort(error);
      reject(error);
    };
    if (signal?.aborted) return onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    poolOf(origin).dispatch(request, {
      onRequestStart(started) {
        controller = started;
        if (signal?.aborted) onAbort();
      },
      onResponseStart(_, given) {
        status = given;
      },
      onResponseData(_, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        signal?.removeEventListener("abort", onAbort);
        resolve({ status, body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) });
      },
      onResponseError(_, error) {
        signal?.removeEventListener("abort", onAbort);
        reject(failureOf(error, command, origin));
      },
    });
  });
}

function failureOf(error: Error & { code?: string }, command: string, origin: string): Error {
  if (error instanceof CancelledError) return error;
  if (error.code === "UND_ERR_HEADERS_TIMEOUT" || error.code === "UND_ERR_BODY_TIMEOUT") {
    return new DeadlineError(`${command}: no answer from ${origin} within ${answerTimeout()} ms`, command, "deadline_exceeded", { cause: error });
  }
  const reason = error.message || error.code || error.name;
  return new DeviceUnavailableError(
    `${command}: could not reach Packtrain at ${origin} (${reason}); the run has probably ended`,
    command,
    "unavailable",
    { cause: error },
  );
}
