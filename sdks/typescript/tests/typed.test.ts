import assert from "node:assert/strict";
import { it } from "node:test";
import { trailblaze } from "../src/index.js";
import { mockClient, mockContext } from "../src/testing.js";
import { asTyped } from "../src/typed.js";
import { describe } from "../trailmaps/source.js";

it("a typed tool is called with its input and one context, and keeps its spec", async () => {
  interface Args {
    user?: string;
  }
  const signIn = trailblaze.tool<Args, string[]>({ supportedPlatforms: ["ios"] }, async ({ user }, { tools, memory, device, target }) => {
    await tools.inputText!({ text: user });
    memory.set("user", user!);
    return [device!.platform, target?.resolveAppId({ defaultAppId: "x" }) ?? "none"];
  });
  const [client, ctx] = [mockClient(), mockContext({ target: { id: "shop", appIds: ["com.example.shop"] } })];
  assert.deepEqual(await signIn({ user: "Ada" }, ctx, client), { content: [{ type: "text", text: '["android","com.example.shop"]' }] });
  assert.deepEqual(client.calls, [{ kind: "tool", name: "inputText", args: { text: "Ada" } }]);
  assert.deepEqual(ctx.memory.changes(), { memoryDelta: { user: "Ada" } });
  assert.deepEqual(asTyped(signIn)?.spec, { supportedPlatforms: ["ios"] });
  assert(asTyped(trailblaze.tool(async () => "bare")));
  assert.throws(() => trailblaze.tool({}, undefined as never), /expected tool\(name, spec, handler\)/);
});

const SOURCE = `
export interface Args {
  /** Who signs in. */
  user: string;
  "full-name"?: string; // a comment
  times?: number,
  tags?: string[];
  mode?: "a" | "b"; other?: Foo
}
interface Nested { at: { x: number } }

/**
 * Signs in.
 * And out.
 */
// Not told.
export const a_one = trailblaze.tool<Args>({}, async () => "");
export const a_two = tb.tool(async () => "");
export const a_nested = trailblaze.tool<Nested, string>(
  async () => "");
`;

it("what a typed tool takes is read from its source, and what is not understood takes anything", () => {
  assert.deepEqual(describe(SOURCE, "a_one"), {
    description: "Signs in.\nAnd out.",
    inputSchema: {
      type: "object",
      properties: {
        user: { type: "string", description: "Who signs in." },
        "full-name": { type: "string" },
        times: { type: "number" },
        tags: { type: "array", items: { type: "string" } },
        mode: { enum: ["a", "b"] },
        other: {},
      },
      required: ["user"],
      additionalProperties: false,
    },
  });
  assert.deepEqual(describe(SOURCE, "a_two"), { inputSchema: { type: "object" } });
  const nested = { type: "object", properties: { at: {} }, required: ["at"], additionalProperties: false };
  assert.deepEqual(describe(SOURCE, "a_nested"), { inputSchema: nested });
});

const OPEN = { type: "object" };
const closed = (properties: object, ...required: string[]) => ({ ...OPEN, properties, ...(required.length && { required }), additionalProperties: false });

for (const [name, types, expected] of [
  ["a union", "type Args = { a: string } | { b: string };", OPEN],
  ["an intersection", "type Args = { a: string }\n  & Other;", OPEN],
  ["an array", "type Args = { a: string }[];", OPEN],
  ["a merged interface", "interface Args { a: string }\ninterface Args { b: string }", OPEN],
  ["an extended interface", "interface Args extends Other { a: string }", OPEN],
  ["a type with parameters", "interface Args<T = string> { a: T }", OPEN],
  ["an index signature", "interface Args { a?: string; [name: string]: unknown }", OPEN],
  ["a comment that looks like a member", "interface Args {\n  a: string // or, b: c\n}", closed({ a: { type: "string" } }, "a")],
  ["a type that is commented out", "/* interface Args { b: string } */ // interface Args { c: string }\ninterface Args { a: string }", closed({ a: { type: "string" } }, "a")],
  ["a text with signs in it", `interface Args { a: "x; b: y" | 'it"s'; }`, closed({ a: {} }, "a")],
  ["literals that meet", `interface Args { a: "x" & "y"; b?: "x" | "y\\n" }`, closed({ a: {}, b: {} }, "a")],
  ["a union over lines", `interface Args {\n  a:\n    /** X. */\n    | "x"\n    | "y"\n  b?: string\n}`, closed({ a: { enum: ["x", "y"] }, b: { type: "string" } }, "a")],
  ["members that are not understood", "type Args = { a: Record<string, { b: number }>; c?: (x: number) => void, d: number | undefined };", closed({ a: {}, c: {}, d: {} }, "a")],
] as const) {
  it(`the schema of ${name} refuses no call that the type allows`, () => {
    assert.deepEqual(describe(`${types}\nexport const a_one = trailblaze.tool<Args>({}, async () => "");\n`, "a_one").inputSchema, expected);
  });
}
