/** What the source of a typed tool says about it: the comment above it, and the fields of its input's type. */

import type { JsonSchema } from "./schema.js";

type Json = Record<string, unknown>;

/** Comments, texts, words and signs. */
const TOKEN = /\/\/.*|\/\*[^]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[^]|[^`\\])*`|[\w$]+|=>|\n|\S/g;

/** A tool's description and input schema, as far as the text has them. What is not understood of a type takes anything. */
export function describe(source: string, name: string): { description?: string; inputSchema: JsonSchema } {
  const code = source.replace(TOKEN, (token) => (/^\/[/*]/.test(token) ? token.replace(/./g, " ") : token));
  const declared = new RegExp(`export\\s+const\\s+${name}\\s*=\\s*[\\w$.]+\\.tool\\s*(?:<\\s*([^<>(),]*)[^(]*)?\\(`).exec(code);
  if (!declared) return { inputSchema: { type: "object" } };
  // Line comments may stand between.
  const comment = /(\/\*\*(?:(?!\*\/)[^])*\*\/)(?:\s|\/\/.*\n)*$/.exec(source.slice(0, declared.index))?.[1];
  const description = comment && textOf(comment);
  return { ...(description && { description }), inputSchema: schemaOf(source, code, declared[1]?.trim() ?? "") };
}

/** A comment without its stars. */
function textOf(comment: string): string {
  const lines = comment.replace(/^\/\*\*/, "").replace(/\*\/\s*$/, "").split("\n");
  return lines.map((line) => line.replace(/^\s*\*? ?/, "").trim()).join("\n").trim();
}

function schemaOf(source: string, code: string, type: string): JsonSchema {
  if (type === "EmptyInput") return { type: "object", properties: {}, additionalProperties: false };
  const open = { type: "object" } as const;
  const declared = /^\w+$/.test(type) ? [...code.matchAll(new RegExp(`\\b(?:interface|type)\\s+${type}\\b(?:\\s*=?\\s*\\{())?`, "g"))] : [];
  // Declared twice it is merged, with a parent or parameters it is more than its members.
  if (declared.length !== 1 || declared[0]![1] === undefined) return open;
  const properties: Json = {};
  const required: string[] = [];
  const begin = declared[0]!.index + declared[0]![0].length;
  let [member, comment, next, depth, isNewLine] = [[] as string[], "", "", 0, false];
  for (const { 0: token, index } of source.slice(begin).matchAll(TOKEN)) {
    if (token === "\n") isNewLine = true;
    if (token.startsWith("/*")) next = token;
    if (/^(\n|\/\/|\/\*)/.test(token)) continue;
    const isContinued = !isNewLine || [token, member.at(-1)].some((sign) => /^([|&?:.]|=>)$/.test(sign ?? ""));
    if (depth === 0 && (!isContinued || /^[;,}]$/.test(token)) && member.length) {
      const [, name, optional, value] = /^(?:readonly )?(\w+|"[^"\\]*"|'[^'\\]*') (\? )?: ([^]+)$/.exec(member.join(" ")) ?? [];
      if (name === undefined) return open;
      const [key, description] = [name.replace(/^["']|["']$/g, ""), comment.startsWith("/**") ? textOf(comment) : ""];
      properties[key] = { ...typeOf(value!), ...(description && { description }) };
      if (!optional && !/\bundefined\b/.test(value!)) required.push(key);
      member = [];
    }
    if (depth === 0 && token === "}") {
      const isWhole = !/^\s*([|&[]|extends\b)/.test(code.slice(begin + index + 1));
      return isWhole ? { type: "object", properties, ...(required.length && { required }), additionalProperties: false } : open;
    }
    if (depth > 0 || !/[;,]/.test(token)) {
      if (!member.length) comment = next;
      member.push(token);
    }
    [next, isNewLine] = ["", false];
    depth += /^[{(<[]$/.test(token) ? 1 : /^[})>\]]$/.test(token) ? -1 : 0;
  }
  return open;
}

/** The schema of a member's type, of which each sign stands alone. */
function typeOf(type: string): Json {
  if (["string", "number", "boolean"].includes(type)) return { type };
  const item = /^(?:readonly )?(\w+) \[ \]$/.exec(type);
  if (item) return { type: "array", items: typeOf(item[1]!) };
  const literals = type.replace(/^\| /, "").split(" | ").map((part) => /^(["'])([^"'\\]*)\1$/.exec(part)?.[2]);
  return literals.every((literal) => literal !== undefined) ? { enum: literals } : {};
}
