// Somebody who watches a run: `node watch.mjs ADDRESS`. Says in a line of JSON what the page shows once
// the first step has passed and the second has not ended, and in another what it shows at the end and
// what it was given last. A path on standard input is then a report to be read in the same way.
// `node watch.mjs ADDRESS late`: what the page asks for is answered as it was then, but not before the end.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";

const installed = createRequire(join(process.env.PACKTRAIN_TEST_SOURCES, "package.json"));
const { chromium } = installed("playwright-core");
const say = (value) => console.log(JSON.stringify(value));
const quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const mac = ["/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"];
const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const all = [...(process.env.PATH ?? "").split(delimiter).flatMap((folder) => names.map((name) => join(folder, name))), ...mac];
const executablePath = process.env.PACKTRAIN_BROWSER ?? all.find((path) => existsSync(path));
const browser = await chromium.launch({ executablePath, args: [...quiet, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])] });
const page = await (await browser.newContext()).newPage();
page.setDefaultTimeout(60_000);
const broken = [];
page.on("pageerror", (error) => broken.push(error.message));
page.on("console", (line) => { if (line.type() === "error") broken.push(`${line.location().url}: ${line.text()}`); });
await page.addInitScript(() => {
  const Own = EventSource;
  window.loads = (Number(sessionStorage.loads ?? 0)) + 1;
  sessionStorage.loads = window.loads;
  window.EventSource = class extends Own {
    constructor(address) { super(address); this.addEventListener("end", (event) => { window.last = event.data; }); }
  };
});
const marks = () => page.locator(".trail .grid tbody i").allInnerTexts();
// What a screen reader is told of news is no part of the report.
const shown = () => page.evaluate(() => { for (const news of document.querySelectorAll("[role=status]")) news.remove(); return document.querySelector("#app").innerText; });

const late = [];
if (process.argv[3] === "late") {
  const asked = new Promise((done) => page.route("**/data.json", async (route) => { late.push([route, await route.fetch()]); done(); }));
  await page.goto(process.argv[2]);
  await asked;
  say({});
  await page.waitForFunction(() => window.last);
  await Promise.all(late.map(([route, response]) => route.fulfill({ response })));
  // Once for what is answered and once for what is shown of it.
  for (let frame = 0; frame < 4; frame++) await page.evaluate(() => new Promise(requestAnimationFrame));
  say({ marks: await marks(), broken });
  await browser.close();
  process.exit();
}
await page.goto(process.argv[2]);
await page.waitForFunction(() => document.querySelectorAll(".trail .grid tbody i")[0]?.innerText === "✓");
const pictures = await page.evaluate(async () => {
  const { data } = await (await fetch("data.json")).json();
  const paths = Object.values(data.pictures).map((shot) => shot.h).filter(Boolean);
  return Promise.all(paths.map(async (path) => (await createImageBitmap(await (await fetch(path)).blob())).width));
});
say({ marks: await marks(), title: await page.title(), pictures });
await page.waitForFunction(() => window.last);
say({ marks: await marks(), title: await page.title(), shown: await shown(), last: await page.evaluate(() => window.last), loads: await page.evaluate(() => window.loads), broken });
for await (const path of createInterface({ input: process.stdin })) {
  await page.goto(pathToFileURL(path).href);
  await page.locator("#app h1").waitFor();
  say({ shown: await shown(), title: await page.title() });
  break;
}
await browser.close();
