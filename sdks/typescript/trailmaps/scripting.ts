/** What tools get as `@trailblaze/scripting`: Packtrain's SDK, and the names that only Trailblaze's has. */

export * from "./index.js";

const KINDS = ["androidAccessibility", "androidMaestro", "web", "compose", "iosMaestro", "iosAxe"];

/** `selectors.iosMaestro({ textRegex })` is `{ iosMaestro: { textRegex } }`. */
export const selectors = Object.fromEntries(KINDS.map((kind) => [kind, (match: unknown) => ({ [kind]: match })]));

const unsupported = (name: string) => async (): Promise<never> => {
  throw new Error(`${name} is not supported by Packtrain: use findMatches, or the commands of the client`);
};

/** Here for files that import it; calling it fails. */
export const captureViewHierarchy = unsupported("captureViewHierarchy");
/** Here for files that import it; calling it fails. */
export const runConditionalActions = unsupported("runConditionalActions");
/** Here for files that import it. */
export class ConditionalActionFailedError extends Error {}
