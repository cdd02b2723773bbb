// The steps of each promise about the report's page: `node page.mjs NAME`, in a folder with report.html.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const installed = createRequire(join(process.env.PACKTRAIN_TEST_SOURCES, "package.json"));
const { chromium } = installed("playwright-core");
const name = process.argv[2];
const file = pathToFileURL(resolve("report.html")).href;

function browserProgram() {
  if (process.env.PACKTRAIN_BROWSER) return process.env.PACKTRAIN_BROWSER;
  const mac = ["/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"];
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const all = [...(process.env.PATH ?? "").split(delimiter).flatMap((folder) => names.map((n) => join(folder, n))), ...mac];
  return all.find((path) => existsSync(path));
}
const quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath: browserProgram(), args: [...quiet, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])] });

/** A page on the report; what it asks of the network and what breaks in it fail the promise. */
async function open(hash = "", options = {}, address = file) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  page.broken = [];
  page.on("pageerror", (error) => page.broken.push(error.message));
  page.on("console", (line) => { if (line.type() === "error") page.broken.push(line.text()); });
  page.on("request", (request) => { if (!request.url().startsWith(address.slice(0, 12)) && !/^(blob|data|file):/.test(request.url())) page.broken.push(`asked for ${request.url()}`); });
  await page.addInitScript(() => { window.copied = []; Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied.push(text); } } }); });
  await page.goto(address + hash);
  return page;
}
const text = (page, selector) => page.locator(selector).first().innerText();
const until = (page, test, argument) => page.waitForFunction(test, argument);
const at = (page, hash) => until(page, (h) => decodeURIComponent(location.hash).startsWith(h), hash);
const loaded = (page, selector) => until(page, (s) => [...document.querySelectorAll(s)].length > 0 && [...document.querySelectorAll(s)].every((i) => i.complete && i.naturalWidth > 0), selector);
const count = (page, selector) => page.locator(selector).count();

const promises = {
  async causes() {
    const page = await open();
    assert.match(await text(page, "h1"), /^4 of 24 failed: de-DE at 390 wide\./);
    assert.equal(await count(page, "#static"), 0);
    const a = page.locator("#cause-A");
    assert.match(await a.locator(".words").innerText(), /Fails on all 4 of 4 cells with locale=de-DE/);
    assert.equal(await a.locator(".words strong").first().innerText(), "all 4 of 4");
    assert.match(await a.locator(".where").innerText(), /step 6: Proceed to checkout/);
    assert.match(await a.locator(".devices").innerText(), /^4 cells/);
    await loaded(page, "#cause-A .looks img");
    assert.equal(await count(page, "#cause-A .looks img"), 2);
    assert.match(await a.locator(".looks").innerText(), /chromium, 390 wide, en-US, light/);
    assert.match(await a.locator("h3").innerText(), /is missing, de-DE at 390 wide$/);
    // Where the missing button is, on the picture that has it: within what is shown of it.
    assert.equal(await count(page, "#cause-A .looks .box"), 1);
    const [box, shown] = [await a.locator(".looks .box").boundingBox(), await a.locator(".looks .picture").first().boundingBox()];
    assert.ok(box.y >= shown.y && box.y + box.height <= shown.y + shown.height + 1, JSON.stringify([box, shown]));
    const image = await a.locator(".looks img").first().boundingBox();
    assert.ok(Math.abs((box.y - image.y) / image.height - (844 - 80) / 844) < 0.02, JSON.stringify([box, image]));
    await a.locator(".command button").click();
    assert.match((await page.evaluate(() => window.copied))[0], /^packtrain run trails\/buy-tea.trail.yaml --matrix release --cell colorScheme=light,/);
    assert.match(await page.locator("#cause-B").innerText(), /To tell the explanations apart:/);
    // Failures first, then what was not tested, then what differs; the rest is folded.
    const parts = await page.locator("main > section").evaluateAll((all) => all.map((s) => s.id));
    assert.deepEqual(parts, ["failures", "untested", "differences", "pivot", "t0"]);
    assert.match(await page.locator("#untested").innerText(), /device error at step 4[\s\S]*Buy tea: Open the first product|the browser crashed/);
    await page.locator("#cause-B summary", { hasText: "1 more of the same" }).click();
    assert.match(await page.locator("#cause-B").innerText(), /link "Imprint" is missing/);
    await page.locator("summary", { hasText: "How platforms differ (3)" }).click();
    assert.match(await page.locator("#conventions").innerText(), /At 390 wide three links are behind Menu\./);
    await page.locator("summary", { hasText: "What was left out" }).click();
    assert.match(await page.locator("#differences").innerText(), /was not compared: infrastructure: the browser crashed/);
    assert.match(await page.locator("#differences").innerText(), /120 renamed, explained by locale/);
    return page;
  },

  async difference() {
    const page = await open();
    await page.locator('.trail .grid .fold[aria-expanded="false"]').first().waitFor();
    await page.locator("#cause-A .letter").click();
    await at(page, "#s3-6");
    const panel = page.locator("#panel");
    assert.match(await panel.innerText(), /no visible element matches button "Zur Kasse"/);
    assert.match(await panel.innerText(), /button "Checkout" is missing/);
    assert.match(await panel.innerText(), /3 differences are expected: locale/);
    await loaded(page, "#panel .sides img");
    assert.equal(await count(page, "#panel .sides .box"), 1);
    assert.match(await text(page, "#panel tr.r-removed"), /button "Checkout"/);
    await panel.locator("a", { hasText: /^Compare$/ }).click();
    await at(page, "#pair/s3-6/s1");
    await page.goBack();
    await at(page, "#s3-6");
    await panel.waitFor();
    await page.goBack();
    await panel.waitFor({ state: "detached" });
    // The trace of the session, with the command that shows it.
    await page.evaluate(() => { location.hash = "#s3-0"; });
    await page.locator("#panel .command", { hasText: "npx playwright show-trace artifacts/s3/trace.zip" }).waitFor();
    return page;
  },

  async pivot() {
    const page = await open();
    const selects = await page.locator("#pivot select").evaluateAll((all) => all.map((s) => s.value));
    assert.deepEqual(selects, ["locale", "", "width", ""]);
    const cell = (row, column) => page.locator("#pivot tbody tr").nth(row).locator("td").nth(column);
    assert.match(await cell(1, 0).innerText(), /✗\s*4 of 4/);
    assert.match(await cell(0, 0).innerText(), /✓\s*4/);
    await page.locator("#pivot select").nth(2).selectOption("engine");
    assert.match(await page.locator("#pivot thead").innerText(), /chromium\s+firefox/);
    await page.locator("#pivot select").nth(3).selectOption("colorScheme");
    assert.equal(await count(page, "#pivot thead th"), 5);
    await page.locator("#pivot select").nth(3).selectOption("");
    await cell(1, 0).locator("button").click();
    assert.equal(await page.locator("#query").inputValue(), "locale=de-DE engine=chromium");
    await until(page, () => document.querySelectorAll(".trail .grid thead th.dev").length === 6);
    return page;
  },

  async folding() {
    const page = await open();
    const columns = () => count(page, ".trail .grid thead th.dev");
    const before = await columns();
    const fold = page.locator(".trail .grid .fold").last();
    assert.equal(await fold.innerText(), "×15");
    await fold.click();
    assert.equal(await columns(), before + 14);
    assert.equal(await count(page, '.trail .grid .fold[aria-expanded="true"]'), 1);
    await page.locator('.trail .grid .fold[aria-expanded="true"]').click();
    assert.equal(await columns(), before);
    return page;
  },

  async query() {
    const page = await open();
    const shown = async (query) => {
      await page.locator("#query").fill(query);
      await until(page, (q) => (new URLSearchParams(location.hash.split("?")[1]).get("q") ?? "") === q, query);
      const folded = page.locator('.trail .grid .fold[aria-expanded="false"]');
      while (await folded.count()) await folded.first().click();
      return page.evaluate(() => document.querySelectorAll(".trail .grid thead th.dev").length);
    };
    assert.equal(await shown("locale=de width<400"), 4);
    assert.equal(await shown("locale!=de viewport=390"), 4);
    assert.equal(await shown("width>=768 engine=firefox colorScheme=dark"), 4);
    assert.equal(await shown("locale=de width<400 step:7 !pass"), 4);
    assert.equal(await count(page, ".trail .grid tbody tr"), 1);
    assert.equal(await shown("step:6 pass"), 19);
    assert.equal(await shown("cause:D"), 1);
    assert.equal(await shown("is:infrastructure"), 1);
    assert.equal(await shown("-firefox"), 12);
    // Texts of screens: only German cells say this, and only on some steps.
    assert.equal(await shown('"produkte suchen"'), 12);
    assert.ok(await count(page, ".trail .grid a.hit") > 0);
    assert.equal(await shown('"no such words"'), 0);
    assert.ok(await page.locator("text=Nothing matches the query.").isVisible());
    const again = await open("#?q=locale%3Dde%20width%3C400");
    assert.equal(await again.locator("#query").inputValue(), "locale=de width<400");
    return page;
  },

  async pair() {
    const page = await open("#pair/s3-6/s1");
    await loaded(page, ".sides img");
    assert.equal(await count(page, ".sides img"), 2);
    assert.equal(await count(page, ".sides .box"), 1);
    const button = (label) => page.locator(".modes button", { hasText: label });
    await button("boxes").click();
    assert.equal(await count(page, ".sides .box"), 0);
    await button("boxes").click();
    await button("slider").click();
    const clip = () => page.locator(".stack .picture").nth(1).evaluate((e) => e.style.clipPath);
    const before = await clip();
    await page.locator(".over input").fill("80");
    assert.notEqual(await clip(), before);
    await button("onion").click();
    await page.locator(".over input").fill("30");
    assert.equal(await page.locator(".stack .picture").nth(1).evaluate((e) => e.style.opacity), "0.3");
    await button("blink").click();
    const visible = () => page.locator(".stack .picture").nth(1).evaluate((e) => e.style.visibility);
    const first = await visible();
    await until(page, (was) => document.querySelectorAll(".stack .picture")[1].style.visibility !== was, first);
    // The trees: changed lines with two lines around them, the rest on demand.
    assert.match(await text(page, ".trees tr.r-removed"), /button "Checkout"/);
    assert.match(await text(page, ".trees tr.expected"), /expected: locale/);
    await page.goto(`${file}#pair/s3-2/s1`);
    await page.locator(".trees .gap").first().waitFor();
    const few = await count(page, ".trees tbody tr");
    await page.locator(".trees caption button").click();
    assert.ok(await count(page, ".trees tbody tr") > few);
    // Different sizes cannot lie over each other, and it is said why.
    await page.locator(".stage select").selectOption("s5");
    await at(page, "#pair/s3-2/s5");
    assert.ok(await button("slider").isDisabled() && await button("blink").isDisabled());
    assert.match(await text(page, ".stage"), /different sizes: 195×422 and 384×512/);
    return page;
  },

  async keyboard() {
    const page = await open();
    const press = (key) => page.keyboard.press(key);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("href"));
    await press("j");
    const first = await focused();
    assert.match(first, /^#s\d+-0$/);
    await press("j");
    assert.equal(await focused(), first.replace("-0", "-1"));
    await press("l");
    assert.notEqual((await focused()).split("-")[0], first.split("-")[0]);
    await press("h");
    await press("k");
    assert.equal(await focused(), first);
    await press("Enter");
    await at(page, first);
    await press("ArrowDown");
    await at(page, first.replace("-0", "-1"));
    await press("Escape");
    await page.locator("#panel").waitFor({ state: "detached" });
    await press("n");
    await at(page, "#s3-6");
    await press("n");
    await at(page, "#s24-4");
    await press("n");
    await until(page, () => /^#s\d+-2$/.test(location.hash));
    await press("p");
    await press("p");
    await at(page, "#s3-6");
    await press("r");
    await at(page, "#pair/s3-6/s1");
    await press("r");
    await at(page, "#pair/s3-6/s9");
    await press("r");
    await at(page, "#pair/s3-6/s1");
    await press("b");
    await page.locator(".stack").waitFor();
    await press("b");
    await page.locator(".sides").waitFor();
    await press("k");
    await at(page, "#pair/s3-5/s1");
    await press("Escape");
    await page.locator("#panel").waitFor();
    await press("Escape");
    await press("?");
    await page.locator("#help[open]").waitFor();
    await press("Escape");
    await page.locator("#help").waitFor({ state: "detached" });
    await press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "query");
    await page.keyboard.type("is:failed");
    await until(page, () => new URLSearchParams(location.hash.split("?")[1]).get("q") === "is:failed");
    await press("Escape");
    await until(page, () => document.querySelector("#query").value === "");
    // Everything that can be clicked can be reached, and shows that it has the focus.
    await page.evaluate(() => document.activeElement.blur());
    const seen = new Set();
    for (let n = 0; n < 90; n++) {
      await press("Tab");
      seen.add(await page.evaluate(() => { const e = document.activeElement; return e.closest("#pivot") ? "pivot" : e.closest(".card") ? "card" : e.closest(".grid") ? "grid" : e.closest(".tools") ? "tools" : e.tagName; }));
    }
    for (const part of ["tools", "card", "pivot", "grid"]) assert.ok(seen.has(part), `${part} cannot be reached by Tab`);
    return page;
  },

  async addresses() {
    for (const [hash, selector] of [["#s3", "#panel"], ["#s3-6", "#panel .trouble"], ["#pair/s3-6/s1", ".sides"], ["#wall/0/2", ".wall"], ["#film/s3", ".wall"], ["#time", ".timeline"], ["#cause-B", "#cause-B:focus"]]) {
      const page = await open(hash);
      await page.locator(selector).first().waitFor();
      assert.ok(await page.evaluate((h) => location.hash === h, hash), hash);
      if (hash.startsWith("#cause")) continue;
      await page.keyboard.press("Escape");
      await page.locator(hash.startsWith("#pair") ? "#panel" : "main .card").first().waitFor();
      await page.context().close();
    }
    const page = await open("#nonsense/9/<b>");
    await page.locator(".card").first().waitFor();
    return page;
  },

  async walls() {
    const page = await open("#wall/0/6");
    await page.locator(".wall figure").first().waitFor();
    assert.equal(await count(page, ".wall figure"), 24);
    assert.ok(await count(page, ".wall figure.same") > 0);
    assert.match(await text(page, ".wall figure.same figcaption"), /same as reference/);
    assert.equal(await count(page, ".wall figure.unreached"), 1);
    await page.locator(".stage select").selectOption("2");
    await at(page, "#wall/0/2");
    await page.keyboard.press("j");
    await at(page, "#wall/0/3");
    await page.locator(".wall a.shot").first().click();
    await page.locator(".sides").waitFor();
    await page.goBack();
    await at(page, "#wall/0/3");
    await page.goto(`${file}#film/s3`);
    await page.reload();
    await page.locator(".wall figure").first().waitFor();
    assert.equal(await count(page, ".wall figure"), 8);
    assert.equal(await count(page, ".wall figure.unreached"), 1);
    await page.keyboard.press("l");
    await until(page, () => /^#film\/s\d+$/.test(location.hash) && location.hash !== "#film/s3");
    return page;
  },

  async times() {
    const page = await open("#time");
    const words = await text(page, ".stage .facts");
    const seconds = (t) => [...t.matchAll(/([\d.]+)(h|m|s|ms)\b/g)].reduce((sum, [, n, unit]) => sum + Number(n) * { h: 3600, m: 60, s: 1, ms: 0.001 }[unit], 0);
    const [total, parts] = words.split(" = ");
    const sum = parts.split(" + ").reduce((all, part) => all + seconds(part), 0);
    assert.ok(Math.abs(seconds(total) - sum) <= 2, words);
    for (const part of ["waiting", "starting", "steps"]) assert.ok(words.includes(part), words);
    // Four browsers at a time.
    assert.equal(await count(page, ".lane"), 4);
    assert.equal(await count(page, ".lane a.starting"), 24);
    await page.locator(".lane a.starting").first().focus();
    await page.keyboard.press("Enter");
    await page.locator("#panel").waitFor();
    assert.match(await text(page, "#panel"), /waiting .*starting .*steps /s);
    assert.match(await text(page, "#panel"), /locale\s+en-US/);
    return page;
  },

  async copying() {
    const page = await open();
    await page.locator(".tools .copy").click();
    const [whole] = await page.evaluate(() => window.copied);
    assert.match(whole, /^# 4 of 24 failed: de-DE at 390 wide\./);
    assert.match(whole, /\*\*A: button "Zur Kasse" is missing\*\*, de-DE at 390 wide \(failure, 4 cells\)/);
    assert.match(whole, /\| ✗ failed \| 4 \|/);
    await page.goto(`${file}#pair/s3-6/s1`);
    await page.locator(".modes .copy").click();
    assert.match((await page.evaluate(() => window.copied)).at(-1), /- button "Checkout" is missing/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.emulateMedia({ media: "print" });
    assert.ok(!await page.locator(".tools").isVisible());
    assert.ok(await page.locator("#cause-A .words").isVisible() && await page.locator(".trail .grid").isVisible());
    assert.ok((await page.pdf()).length > 10_000);
    return page;
  },

  async access() {
    const rules = readFileSync(installed.resolve("axe-core/axe.min.js"), "utf8");
    let page;
    for (const colorScheme of ["light", "dark"]) for (const width of [390, 1280]) {
      page = await open("", { colorScheme, viewport: { width, height: 844 } });
      await page.evaluate(rules);
      for (const hash of ["#", "#s3-6", "#s3", "#pair/s3-6/s1", "#wall/0/6", "#film/s3", "#time"]) {
        await page.evaluate((h) => { location.hash = h; }, hash);
        await page.locator(hash === "#" ? ".card" : /^#s/.test(hash) ? "#panel" : ".stage").first().waitFor();
        const where = `${hash} ${colorScheme} ${width}`;
        const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
        const serious = found.violations.filter((v) => v.impact === "serious" || v.impact === "critical");
        assert.deepEqual(serious.map((v) => `${where}: ${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html).join(" ")}`), []);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${where} scrolls sideways by ${wide}`);
      }
    }
    return page;
  },

  async devices() {
    const page = await open();
    assert.match(await text(page, "h1"), /failed/);
    assert.ok(await count(page, "#overview td a") > 40);
    await page.keyboard.press("n");
    const panel = page.locator("#panel");
    await panel.waitFor();
    const said = await panel.innerText();
    for (const part of ["TOOL CALLS", "FILES", "SCREENS", "the screen shows", "set the region", "attempt 2", "THE SCREEN AT THE END, AS TEXT"]) assert.ok(said.toUpperCase().includes(part.toUpperCase()), `${part} is not in ${said}`);
    await loaded(page, "#panel .strip .here img");
    await panel.locator(".strip .here button.shot").click();
    await page.locator("#closeup[open] img").waitFor();
    assert.match(await text(page, "#closeup p"), /1 of \d+/);
    await page.keyboard.press("ArrowRight");
    await page.locator("#closeup p", { hasText: "2 of" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#closeup").waitFor({ state: "detached" });
    assert.ok(await panel.isVisible());
    await panel.locator("text=this device, every step").click();
    assert.ok(await count(page, "#panel .strip figure") > 3);
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    await page.locator(".count", { hasText: "failed" }).first().click();
    await until(page, () => document.querySelectorAll("section.trail").length === 1);
    await page.locator("#query").fill("pixel");
    await until(page, () => document.querySelectorAll("section.trail").length > 1);
    assert.ok((await page.locator(".trail .grid thead .model").allInnerTexts()).every((model) => model.includes("Pixel")));
    await page.locator("#query").fill("");
    await page.goto(`${file}#s10.2-3`);
    await page.locator('#panel [aria-label="Attempts"]').waitFor();
    await page.goto(`${file}#t3`);
    assert.ok(await page.locator("#t3").isVisible());
    return page;
  },

  async live() {
    let news;
    const server = createServer((request, response) => {
      if (request.url === "/events") { response.writeHead(200, { "content-type": "text/event-stream" }); response.flushHeaders(); news = response; return; }
      const path = request.url === "/" ? "report.html" : request.url.slice(1);
      if (!["report.html", "data.json"].includes(path)) { response.writeHead(204).end(); return; }
      response.writeHead(200, { "content-type": path.endsWith("json") ? "application/json" : "text/html" }).end(readFileSync(path));
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    const address = `http://127.0.0.1:${server.address().port}/`;
    const page = await open("", {}, address);
    assert.match(await text(page, "h1"), /^So far, 16 of 24: /);
    await page.locator("#cause-A .letter").click();
    await page.locator("#panel").waitFor();
    await until(page, () => performance.getEntriesByType("resource").length >= 0);
    while (!news) await new Promise((done) => server.once("request", done));
    news.write("data: more\n\n");
    await until(page, () => !document.querySelector("h1").innerText.includes("So far"));
    assert.ok(await page.locator("#panel").isVisible());
    await at(page, "#s3-6");
    // The same by hand.
    await page.evaluate(async () => { const update = await (await fetch("data.json")).json(); update.data.head.headline = "Told by hand."; window.packtrain.update(update); });
    assert.equal(await text(page, "h1"), "Told by hand.");
    server.closeAllConnections();
    server.close();
    page.broken = page.broken.filter((line) => !/ERR_|EventSource/.test(line));
    return page;
  },

  async hostile() {
    let page;
    for (const hash of ["", "#s3-6", "#pair/s3-6/s1", "#wall/0/6", "#film/s3", "#time"]) {
      page = await open(hash);
      await page.locator(hash === "" ? ".card" : /^#s/.test(hash) ? "#panel" : ".stage").first().waitFor();
      assert.equal(await count(page, "#evil"), 0, hash);
      assert.notEqual(await page.title(), "evil");
      if (hash === "") assert.match(await page.locator("#cause-A").innerText(), /<\/script><img src=x onerror=/);
    }
    return page;
  },

  async first() {
    let page;
    for (const { name, headline, wanted } of JSON.parse(readFileSync("wanted.json", "utf8"))) for (const width of [1280, 390]) {
      page = await open("", { viewport: { width, height: 900 } }, pathToFileURL(resolve(`${name}.html`)).href);
      assert.equal(await text(page, "h1"), headline);
      if (wanted[0] === "") assert.match(await page.locator("main > section").first().getAttribute("class"), /block/);
      // What a reader finds without scrolling, the headline aside.
      const shown = await page.evaluate(() => {
        const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
        const all = [];
        for (let node = texts.nextNode(); node; node = texts.nextNode()) {
          const range = document.createRange();
          range.selectNodeContents(node);
          const box = range.getBoundingClientRect();
          if (box.width > 0 && box.bottom <= 900 && box.right <= innerWidth) all.push(node.data);
        }
        return all.join("\n");
      });
      for (const part of wanted) assert.ok(shown.includes(part), `${name} at ${width}: ${part} is not in ${shown}`);
      const rules = readFileSync(installed.resolve("axe-core/axe.min.js"), "utf8");
      await page.evaluate(rules);
      const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      assert.deepEqual(found.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${name}: ${v.id}`), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} scrolls sideways at ${width}`);
      await page.context().close();
    }
    return page;
  },

  async narrow() {
    const page = await open("", { viewport: { width: 390, height: 844 } });
    await page.locator(".trail .grid").first().waitFor();
    for (const hash of ["#", "#s1", "#wall/0/1", "#time"]) {
      await page.evaluate((h) => { location.hash = h; }, hash);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${hash} scrolls sideways`);
    }
    return page;
  },

  async large() {
    const page = await open();
    await page.locator(".trail .grid").waitFor();
    const took = await page.evaluate(() => performance.getEntriesByType("navigation")[0].domComplete);
    // A second where nothing else runs; tests share the computer with each other.
    assert.ok(took < 5_000, `it opened after ${took} ms`);
    assert.ok(await count(page, "body *") < 9_000);
    return page;
  },
};

const known = promises[name];
assert.ok(known, `there is no promise ${name}`);
try {
  const page = await known();
  assert.deepEqual(page.broken, []);
} finally {
  await browser.close();
}
