// The same flow as benches/flow.trail.yaml in plain Playwright. Reads a line per round from
// standard input: how many contexts to run it in at once; answers the milliseconds it took.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [cli, executablePath, page] = process.argv.slice(2);
const require = createRequire(cli);
const { chromium } = require("playwright-core");

const browser = await chromium.launch({
  executablePath,
  args: ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

async function flow() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  const p = await context.newPage();
  const { expect } = { expect: (locator) => locator.waitFor({ state: "visible" }) };
  await p.goto(page);
  await expect(p.getByRole("heading", { name: "Order", exact: true }));
  await p.getByRole("textbox", { name: "Name", exact: true }).fill("Ada Lovelace");
  await p.getByRole("textbox", { name: "Street", exact: true }).fill("12 St James's Square");
  await p.getByRole("textbox", { name: "City", exact: true }).fill("London");
  await p.getByRole("textbox", { name: "Note", exact: true }).fill("Ring twice");
  await p.getByRole("combobox", { name: "Country", exact: true }).selectOption("Austria");
  await p.getByRole("button", { name: "More", exact: true }).click();
  await p.getByRole("button", { name: "More", exact: true }).click();
  await p.getByRole("button", { name: "More", exact: true }).click();
  await expect(p.getByText("Count: 3").first());
  await p.getByRole("button", { name: "Less", exact: true }).click();
  await expect(p.getByText("Count: 2").first());
  await p.getByRole("checkbox", { name: "Gift", exact: true }).click();
  await expect(p.getByText("It is a gift").first());
  await p.getByRole("button", { name: "Second tab", exact: true }).click();
  await expect(p.getByText("The second tab").first());
  await p.getByRole("button", { name: "First tab", exact: true }).click();
  await p.getByRole("button", { name: "Send", exact: true }).click();
  await expect(p.getByText("Thank you, Ada Lovelace").first());
  await context.close();
}

for await (const line of createInterface({ input: process.stdin })) {
  const begun = process.hrtime.bigint();
  await Promise.all(Array.from({ length: Number(line) }, flow));
  console.log(Number(process.hrtime.bigint() - begun) / 1e6);
}
await browser.close();
