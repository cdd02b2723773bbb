// Writes src/generated/commands.ts from ../openapi.json. With --check, exits 1 when it differs.

import { readFileSync, writeFileSync, mkdirSync } from "node:fs";

const [from, to] = ["../../openapi.json", "../src/generated/commands.ts"].map((path) => new URL(path, import.meta.url));
const api = JSON.parse(readFileSync(from, "utf8"));

const lowerFirst = (name) => name[0].toLowerCase() + name.slice(1);
const upperFirst = (name) => name[0].toUpperCase() + name.slice(1);
const nameOf = (ref) => ref.split("/").at(-1);
const schemaOf = (ref) => api.components.schemas[nameOf(ref)];
const bodyOf = (content) => content["application/json"].schema;
const prefixOf = (name) => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toUpperCase() + "_";

function commandName(group, method) {
  return (group === "core" ? "" : `${group}.`) + lowerFirst(method);
}

/** The types that commands refer to, in the order in which they are met. */
const types = new Map();

function typeOf(schema) {
  if (schema.$ref) {
    const name = nameOf(schema.$ref);
    if (!types.has(name)) types.set(name, declarationOf(name, schemaOf(schema.$ref)));
    return name;
  }
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.type === "array") return `(${typeOf(schema.items)})[]`;
  if (schema.type === "integer" || schema.type === "number") return "number";
  if (schema.type === "string" || schema.type === "boolean") return schema.type;
  if (schema.type === "object") return "Record<string, unknown>";
  return "unknown";
}

function declarationOf(name, schema) {
  if (!schema.enum) return interfaceOf(name, schema.description, fieldsOf(schema));
  const values = schema.enum.map((value) => JSON.stringify(shortOf(name, value)));
  return `${docOf([plain(schema.description)])}export type ${name} = ${values.join(" | ")};\n`;
}

function shortOf(name, value) {
  if (!value.startsWith(prefixOf(name))) throw new Error(`${value} does not start with ${prefixOf(name)}`);
  return value.slice(prefixOf(name).length).toLowerCase();
}

/** Values of enums and commands, as the API has them, and as the SDK does. */
const words = new Map([
  ...Object.entries(api.components.schemas).flatMap(([name, schema]) => (schema.enum ?? []).filter((value) => value.startsWith(prefixOf(name))).map((value) => [value, `"${shortOf(name, value)}"`])),
  ...Object.entries(api.paths).map(([path, { post }]) => [`\`${nameOf(path)}\``, post && `\`${commandName(post.tags[0], nameOf(path))}\``]),
]);

/** A description in the SDK's words. */
const plain = (text = "") => text.replace(/`[A-Z]\w+`|\b[A-Z]+_[A-Z_]+\b/g, (word) => words.get(word) ?? word);

/** The fields of a message, in the order of arguments. */
function fieldsOf(schema) {
  return Object.entries(schema.properties ?? {})
    .map(([name, field]) => {
      const target = field.$ref && schemaOf(field.$ref);
      return {
        name,
        number: field["x-packtrain-number"],
        type: typeOf(field),
        schema: target ?? field,
        enumOf: target?.enum && nameOf(field.$ref),
        isRequired: schema.required?.includes(name) ?? false,
        description: plain(field.description ?? target?.description),
      };
    })
    .sort((a, b) => a.number - b.number);
}

function docOf(lines, indent = "") {
  const all = lines.filter((line) => line !== undefined).flatMap((line) => line.split("\n")).map((line) => line.replaceAll("*/", "*\\/"));
  if (all.length === 1) return `${indent}/** ${all[0]} */\n`;
  return `${indent}/**\n${all.map((line) => `${indent} * ${line}`.trimEnd() + "\n").join("")}${indent} */\n`;
}

function interfaceOf(name, description, fields) {
  const body = fields.map((field) => `${docOf([field.description], "  ")}  ${field.name}${field.isRequired ? "" : "?"}: ${field.type};\n`);
  return `${docOf([plain(description)])}export interface ${name} {\n${body.join("")}}\n`;
}

/** What a required field is when the server leaves it out because it is empty. */
const zeroOf = ({ type }) => ({ integer: 0, number: 0, boolean: false, string: "" })[type];

const table = [];
const options = [];
const groups = new Map([["core", []]]);

for (const [path, { post }] of Object.entries(api.paths)) {
  if (!post) continue;
  const method = nameOf(path);
  const group = post.tags[0];
  const returns = post["x-packtrain-returns"];
  const request = fieldsOf(schemaOf(bodyOf(post.requestBody.content).$ref));
  const response = bodyOf(post.responses[200].content).$ref;
  const required = request.filter((field) => field.isRequired);
  const optional = request.filter((field) => !field.isRequired);

  const entry = { name: commandName(group, method), returns };
  let result = "void";
  if (returns === "message") result = typeOf({ $ref: response });
  else if (returns !== "nothing") {
    const field = fieldsOf(schemaOf(response)).find(({ name }) => name === returns);
    if (field.enumOf) throw new Error(`${method} returns an enum, which this generator cannot write`);
    result = field.isRequired || field.type === "unknown" ? field.type : `${field.type} | undefined`;
    if (field.isRequired && zeroOf(field.schema) !== undefined) entry.zero = zeroOf(field.schema);
  }
  const enums = request.filter((field) => field.enumOf).map((field) => [field.name, prefixOf(field.enumOf)]);
  if (enums.length) entry.enums = Object.fromEntries(enums);
  table.push(`  ${method}: ${JSON.stringify(entry)},\n`);

  const parameters = required.map((field) => `${field.name}: ${field.type}`);
  const sent = required.map((field) => field.name);
  if (optional.length) {
    options.push(interfaceOf(`${method}Options`, `The options of \`${entry.name}\`.`, optional));
    parameters.push(`options: ${method}Options = {}`);
    sent.unshift("...options");
  }
  const doc = docOf([
    `${plain(post.description)} Platforms: ${post["x-packtrain-platforms"].join(", ")}.`,
    ...required.map((field) => `@param ${field.name} ${field.description}`),
    ...optional.map((field) => `@param options.${field.name} ${field.description}`),
  ], "  ");
  if (!groups.has(group)) groups.set(group, []);
  groups.get(group).push(
    `${doc}  ${lowerFirst(method)}(${parameters.join(", ")}): Promise<${result}> {\n` +
    `    return this.#send(${JSON.stringify(method)}, ${sent.length ? `{ ${sent.join(", ")} }` : "{}"});\n  }\n`,
  );
}

const named = [...groups.keys()].filter((group) => group !== "core");
const classOf = (group) => (group === "core" ? "Commands" : `${upperFirst(group)}Commands`);
const constructorOf = (group) =>
  group === "core"
    ? `${named.map((name) => `  /** Commands of ${name} devices. */\n  readonly ${name}: ${classOf(name)};\n`).join("")}` +
      `  readonly #send: Send;\n\n  constructor(send: Send) {\n    this.#send = send;\n${named.map((name) => `    this.${name} = new ${classOf(name)}(send);\n`).join("")}  }\n`
    : "  readonly #send: Send;\n\n  constructor(send: Send) {\n    this.#send = send;\n  }\n";
const classes = [...named, "core"].map((group) => {
  const doc = group === "core" ? "Commands that every platform has, or most." : `Commands of ${group} devices.`;
  return `${docOf([doc])}export class ${classOf(group)} {\n${constructorOf(group)}\n${groups.get(group).join("\n")}}\n`;
});

const text = [
  "// Generated by scripts/generate.mjs from openapi.json. Do not edit.\n",
  "/** What is known of each command besides its types. */\nexport const COMMANDS = {\n" + table.join("") + "} as const;\n",
  "/** A command's name on the wire. */\nexport type Method = keyof typeof COMMANDS;\n",
  "/** A command's name here, as `tap` or `web.click`. */\nexport type CommandName = (typeof COMMANDS)[Method][\"name\"];\n",
  "/** Carries a command out. */\nexport type Send = <T>(method: Method, request: object) => Promise<T>;\n",
  ...types.values(),
  ...options,
  ...classes,
].join("\n");

if (process.argv.includes("--check")) {
  let current = "";
  try {
    current = readFileSync(to, "utf8");
  } catch {
    // No file is a difference too.
  }
  if (current !== text) {
    console.error("src/generated/commands.ts does not match openapi.json: run `npm run generate`");
    process.exit(1);
  }
} else {
  mkdirSync(new URL(".", to), { recursive: true });
  writeFileSync(to, text);
}
