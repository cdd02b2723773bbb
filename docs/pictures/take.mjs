// Takes the pictures: `node take.mjs REPORTS FOLDER`, of a folder that has a folder for each run.
import { createRequire } from "node:module";
import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [reports, folder] = process.argv.slice(2).map((path) => resolve(path));
const installed = createRequire(join(process.env.PACKTRAIN_TEST_SOURCES, "package.json"));
const { chromium } = installed("playwright-core");

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const mac = ["/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"];
const found = (process.env.PATH ?? "").split(delimiter).flatMap((path) => names.map((name) => join(path, name)));
const executablePath = process.env.PACKTRAIN_BROWSER ?? [...found, ...mac].find((path) => existsSync(path));

const quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args: [...quiet, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])] });
const shoot = async (run, hash, ready, width, height) => {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: "light", reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(reports, run, "report.html")).href + hash);
  await page.locator(ready).first().waitFor();
  await page.waitForFunction(() => [...document.images].every((image) => image.complete || image.loading === "lazy"));
  const picture = await page.screenshot({ animations: "disabled" });
  await context.close();
  return picture;
};
/** A picture as WebP, which a browser can write. */
const small = async (picture) => {
  const page = await browser.newPage();
  const address = await page.evaluate(async (data) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.8);
  }, picture.toString("base64"));
  await page.close();
  return Buffer.from(address.split(",")[1], "base64");
};
try {
  for (const [name, hash, ready, height] of [["causes", "", "#cause-A .looks img", 690], ["pair", "#pair/s3-6/s1", ".sides img", 1070]]) {
    writeFileSync(join(folder, `${name}.png`), await shoot("cells-24", hash, ready, 1200, height));
  }
  for (const run of ["green", "difference", "failure", "flaky", "lost", "matrix"]) {
    writeFileSync(join(folder, `first-${run}.webp`), await small(await shoot(run, "", "main > section", 1280, 900)));
  }
} finally {
  await browser.close();
}
