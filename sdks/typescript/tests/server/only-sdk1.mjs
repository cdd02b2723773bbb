// Hides version 2 of the MCP SDK, as if it were not installed.

import { register } from "node:module";

export async function resolve(specifier, context, next) {
  if (specifier.startsWith("@modelcontextprotocol/server")) {
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: "ERR_MODULE_NOT_FOUND" });
  }
  return next(specifier, context);
}

if (!import.meta.url.endsWith("?hooks")) register(`${import.meta.url}?hooks`);
