import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const node = (args: string[], cwd: string) => run(process.execPath, args, { cwd }).then((ok) => ({ code: 0, ...ok }), (error) => error as { code: number; stdout: string; stderr: string });

/** A copy of the package, without its output, that a test may change. */
async function copied() {
  const home = await mkdtemp(join(tmpdir(), "packtrain-sdk-"));
  const folder = join(home, "sdks", "typescript");
  await mkdir(folder, { recursive: true });
  await cp(join(root, "../openapi.json"), join(folder, "../openapi.json"));
  for (const name of ["src", "scripts", "package.json", "tsconfig.json", "tsconfig.build.json", "README.md", "LICENSE"]) {
    await cp(join(root, name), join(folder, name), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return { home, folder, [Symbol.asyncDispose]: () => rm(home, { recursive: true }) };
}

describe("generator", { concurrency: true }, () => {
  it("finds the commands that are committed to be those of openapi.json", async () => {
    const { code, stderr } = await node(["scripts/generate.mjs", "--check"], root);
    assert.deepEqual([code, stderr], [0, ""]);
  });

  it("fails a check on any difference, and mends it", async () => {
    await using copy = await copied();
    const file = join(copy.folder, "../openapi.json");
    const api = JSON.parse(await readFile(file, "utf8"));
    api.components.schemas.PinchRequest.properties.speed = { type: "number", description: "How fast.", "x-packtrain-number": 2 };
    await writeFile(file, JSON.stringify(api));
    const { code, stderr } = await node(["scripts/generate.mjs", "--check"], copy.folder);
    assert.equal(code, 1);
    assert.match(stderr, /does not match openapi\.json: run `npm run generate`/);
    assert.equal((await node(["scripts/generate.mjs"], copy.folder)).code, 0);
    assert.equal((await node(["scripts/generate.mjs", "--check"], copy.folder)).code, 0);
    assert.match(await readFile(join(copy.folder, "src/generated/commands.ts"), "utf8"), /pinch\(scale: number, options: PinchOptions = \{\}\)/);
  });
});

describe("package", () => {
  it("is packed, installed and used, in JavaScript and in TypeScript", async () => {
    await using copy = await copied();
    const { stdout } = await run("npm", ["pack", "--json"], { cwd: copy.folder });
    const packed = JSON.parse(stdout);
    const [{ filename, files }] = Array.isArray(packed) ? packed : Object.values<any>(packed);
    const names = files.map(({ path }: { path: string }) => path);
    for (const name of ["README.md", "LICENSE", "package.json", "dist/index.js", "dist/index.d.ts", "dist/testing.js", "dist/testing.d.ts"]) assert(names.includes(name), name);
    assert.deepEqual(names.filter((name: string) => !/^(dist\/.*\.(js|d\.ts)|README\.md|LICENSE|package\.json)$/.test(name)), []);

    const user = join(copy.home, "user");
    const installed = join(user, "node_modules/@packtrain/sdk");
    await mkdir(installed, { recursive: true });
    await run("tar", ["xzf", join(copy.folder, filename), "--strip-components=1", "-C", installed]);
    for (const name of ["undici", "zod", "@modelcontextprotocol", "@types", "undici-types"]) await symlink(join(root, "node_modules", name), join(user, "node_modules", name)).catch(() => {});
    await writeFile(join(user, "package.json"), '{ "type": "module" }');
    await writeFile(join(user, "tools.ts"), `
      import { trailblaze, type TrailblazeContext } from "@packtrain/sdk";
      import { mockClient } from "@packtrain/sdk/testing";
      import { z } from "zod";
      declare module "@packtrain/sdk" {
        interface Tools {
          shop_total(args: { currency: string }): Promise<number>;
        }
      }
      const client = mockClient({ commands: { hasText: true } });
      const found: boolean = await client.hasText("x");
      const ctx: TrailblazeContext | undefined = client.context;
      const total: number = await client.tools.shop_total({ currency: "EUR" });
      // @ts-expect-error: a text
      await client.tools.shop_total({ currency: total });
      trailblaze.tool("a_b", { inputSchema: { n: z.number() } }, ({ n }) => n.toFixed(found && ctx ? 1 : 0));
      await trailblaze.run();
    `);
    await writeFile(join(user, "tsconfig.json"), JSON.stringify({ compilerOptions: { strict: true, target: "ES2022", module: "NodeNext", types: ["node"], exactOptionalPropertyTypes: true }, files: ["tools.ts"] }));
    const tsc = await node([join(root, "node_modules/typescript/bin/tsc")], user);
    assert.deepEqual([tsc.code, tsc.stdout], [0, ""]);
    const server = execFile(process.execPath, ["tools.js"], { cwd: user });
    const messages = [
      { id: 0, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "tests", version: "1" } } },
      { id: 1, method: "tools/call", params: { name: "a_b", arguments: { n: 2 } } },
    ];
    server.stdin!.end(messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""));
    let output = "";
    for await (const chunk of server.stdout!) output += chunk;
    assert.deepEqual(JSON.parse(output.trim().split("\n")[1]!).result, { content: [{ type: "text", text: "2.0" }] });
  });
});
