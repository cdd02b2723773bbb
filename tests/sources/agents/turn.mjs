// An agent's turn with a phone, whatever client it speaks through: looks at what there is, takes a
// phone, acts on it, gives it back. Prints one line of JSON about it; throws at what is not as promised.
//
// $PACKTRAIN_TARGET says where the server is, as {url, token} or {command, args, env}; $PACKTRAIN_ERA
// which of the protocol's eras to speak: legacy, auto or modern.
import { deepStrictEqual as same, ok } from "node:assert";
import { Ajv2020 } from "ajv/dist/2020.js";

export const target = JSON.parse(process.env.PACKTRAIN_TARGET);
export const era = process.env.PACKTRAIN_ERA;

const OWN = ["device_list", "device_acquire", "device_release", "snapshot", "screenshot"];
const APP = "com.example.shop";

const text = (result) => result.content.map((block) => block.text ?? "").join("\n");

export async function turn({ tools, version, call }) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const listed = new Map(tools.map((tool) => [tool.name, tool]));
  same(listed.size, tools.length);
  for (const { name, description, inputSchema } of tools) {
    ok(/^[A-Za-z0-9_-]{1,64}$/.test(name), name);
    ok(description, name);
    same(inputSchema.type, "object", name);
    ajv.compile(inputSchema);
  }
  for (const name of OWN) ok(listed.has(name), name);
  ok(listed.get("launchApp").inputSchema.required.includes("lease"));

  const said = async (name, args = {}) => {
    const result = await call(name, args);
    ok(!result.isError, `${name}: ${text(result)}`);
    return result;
  };
  const { devices } = (await said("device_list")).structuredContent;
  const { device } = devices.find(({ platform, free }) => platform === "android" && free);
  const taken = (await said("device_acquire", { device })).structuredContent;
  same(taken.device, device);
  const { lease } = taken;
  const before = (await said("snapshot", { lease })).structuredContent;
  const launched = await said("launchApp", { lease, appId: APP });
  const after = await said("snapshot", { lease, since: before.mark });
  ok(after.structuredContent.changed);
  await said("device_release", { lease });
  const gone = await call("snapshot", { lease });
  ok(gone.isError && text(gone).startsWith("unknown_lease"), text(gone));

  const took = tools.filter((tool) => !OWN.includes(tool.name)).length;
  console.log(JSON.stringify({ version, device, run: taken.run, tools: took, launched: text(launched), after: text(after) }));
}
