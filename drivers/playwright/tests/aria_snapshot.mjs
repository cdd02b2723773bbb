// What Playwright itself says of pages: reads an address a line from standard input, and answers each
// with a list of lines as JSON: `ariaSnapshot` of the page, with that of each frame below its `iframe`.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [cli, engine, executablePath] = process.argv.slice(2);
const playwright = createRequire(cli)("playwright-core");
const quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const options = engine === "firefox" ? { channel: "moz-firefox" } : { args: quiet };
const browser = await playwright[engine].launch({ executablePath, ...options });
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });

const isTold = element => element.checkVisibility({ visibilityProperty: true }) && !element.closest("[aria-hidden=true]");
const iframes = nodes => nodes.flatMap(node => node.role === "iframe" ? [node] : iframes(node.children ?? []));

// A frame's document is the frame.
async function below(frame) {
  const [node, ...more] = await read(frame);
  return node?.role === "document" ? [...node.children ?? (node.text ? [node.text] : []), ...more] : [node, ...more];
}

async function read(frame) {
  const nodes = await frame.locator(":root").ariaSnapshotJSON();
  const shown = [];
  for (const element of await frame.$$("iframe, frame")) if (await element.evaluate(isTold)) shown.push(element);
  for (const [nth, node] of iframes(nodes).entries()) node.children = await below(await shown[nth].contentFrame());
  return nodes;
}

// A text in place of children is the name of what has none, and the value of what has one. Where more
// is known, it is a child. Names that are too long are none.
function lines(nodes, depth = 0) {
  return nodes.flatMap(node => {
    const { role, text, url, placeholder, children = [], ...rest } = typeof node === "string" ? { role: "text", text: node } : node;
    const inner = text && (url ?? placeholder) !== undefined ? [text] : children;
    const value = inner === children ? text : undefined;
    const name = rest.name?.length <= 900 ? rest.name : "";
    const states = ["checked", "disabled", "expanded", "invalid", "level", "pressed", "selected"].filter(state => rest[state])
      .map(state => ` [${rest[state] === true ? state : `${state}=${rest[state]}`}]`);
    const label = name || value;
    const line = `${"  ".repeat(depth)}${role}${label ? ` ${JSON.stringify(label)}` : ""}${states.join("")}`;
    return [name && value ? `${line}: ${JSON.stringify(value)}` : line, ...lines(inner, depth + 1)];
  });
}

for await (const url of createInterface({ input: process.stdin })) {
  await page.goto(url);
  console.log(JSON.stringify(lines(await read(page.mainFrame()))));
}
await browser.close();
