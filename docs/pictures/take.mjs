// Takes the pictures: `node take.mjs REPORT FOLDER`.
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [report, folder] = process.argv.slice(2).map((path) => resolve(path));
const installed = createRequire(join(process.env.PACKTRAIN_TEST_SOURCES, "package.json"));
const { chromium } = installed("playwright-core");

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const mac = ["/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"];
const found = (process.env.PATH ?? "").split(delimiter).flatMap((path) => names.map((name) => join(path, name)));
const executablePath = process.env.PACKTRAIN_BROWSER ?? [...found, ...mac].find((path) => existsSync(path));

const quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args: [...quiet, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])] });
try {
  for (const [name, hash, ready, width, height] of [
    ["causes", "", "#cause-A .looks img", 1200, 690],
    ["pair", "#pair/s3-6/s1", ".sides img", 1200, 1070],
  ]) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: "light", reducedMotion: "reduce" });
    const page = await context.newPage();
    await page.goto(pathToFileURL(report).href + hash);
    await page.locator(ready).first().waitFor();
    await page.waitForFunction(() => [...document.images].every((image) => image.complete || image.loading === "lazy"));
    await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
    await context.close();
  }
} finally {
  await browser.close();
}
