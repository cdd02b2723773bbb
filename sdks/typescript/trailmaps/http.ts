/** HTTP to the orchestrator by what Node and bun bring along; stands in for `src/http.ts` beside the server. */

import { CancelledError, DeadlineError, DeviceUnavailableError } from "./errors.js";
import type { HttpAnswer, HttpRequest } from "../src/http.js";

/** How long an answer may take when the environment does not say. */
const DEFAULT_ANSWER_TIMEOUT = 122_000;

/** Nothing to close: the runtime has the connections. */
export async function closeConnections(): Promise<void> {}

/** Sends a request, and fails with a `CommandError` when there is no answer. */
export async function send({ command, origin, method, path, headers, body, signal }: HttpRequest): Promise<HttpAnswer> {
  const given = Number(process.env.TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS);
  const limit = given > 0 ? given : DEFAULT_ANSWER_TIMEOUT;
  const timeout = AbortSignal.timeout(limit);
  const pairs = headers.flatMap((name, at) => (at % 2 ? [] : [[name, headers[at + 1]!] as [string, string]]));
  try {
    const stop = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const answer = await fetch(origin + path, { method, headers: pairs, body: body ?? null, signal: stop });
    return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
  } catch (cause) {
    if (signal?.aborted) throw new CancelledError(`${command}: the tool call was cancelled`, command, "canceled");
    if (timeout.aborted) throw new DeadlineError(`${command}: no answer from ${origin} within ${limit} ms`, command, "deadline_exceeded", { cause });
    const reason = ((cause as Error).cause as Error | undefined)?.message || (cause as Error).message;
    const message = `${command}: could not reach Packtrain at ${origin} (${reason}); the run has probably ended`;
    throw new DeviceUnavailableError(message, command, "unavailable", { cause });
  }
}
