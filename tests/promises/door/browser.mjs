// Pages of somebody who has a name that leads here: `node browser.mjs NAME=BASE...`, tokens in
// PACKTRAIN_TEST_TOKENS. Says in a line of JSON what each page was answered.
import { createRequire } from "node:module";
import { createServer } from "node:http";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const installed = createRequire(join(process.env.PACKTRAIN_TEST_SOURCES, "package.json"));
const { chromium } = installed("playwright-core");
const mac = ["/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"];
const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const all = [...(process.env.PATH ?? "").split(delimiter).flatMap((folder) => names.map((name) => join(folder, name))), ...mac];
const executablePath = process.env.PACKTRAIN_BROWSER ?? all.find((path) => existsSync(path));
const args = ["--host-resolver-rules=MAP evil.test 127.0.0.1", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests"];
const browser = await chromium.launch({ executablePath, args: [...args, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])] });
const doors = JSON.parse(process.argv[2]);
const said = {};

// A page of another server, which may ask and is not to be answered.
const elsewhere = createServer((request, response) => response.writeHead(200, { "content-type": "text/html" }).end("<title>evil</title>"));
await new Promise((listening) => elsewhere.listen(0, "127.0.0.1", listening));
const evil = `http://evil.test:${elsewhere.address().port}/`;

for (const { name, base, token, path, method, body } of doors) {
  const port = new URL(base).port;
  const page = await (await browser.newContext()).newPage();
  // The name was another address's a moment ago, which sent this page: to the browser it is one origin.
  const start = `http://evil.test:${port}/start`;
  await page.route(start, (route) => route.fulfill({ contentType: "text/html", body: "<title>evil</title>" }));
  await page.goto(start);
  await page.unroute(start);
  const rebound = [];
  for (const [asked, headers] of [[method, { "content-type": "application/json" }], [method, {}], ["GET", {}], ["OPTIONS", {}], ["DELETE", {}]]) {
    const options = { method: asked, headers: { ...headers, ...(token ? { authorization: `Bearer ${token}` } : {}) } };
    if (asked === "POST") options.body = body;
    rebound.push(await page.evaluate(([path, options]) => fetch(path, options).then((answer) => answer.status, String), [path, options]));
  }
  await page.goto(evil);
  const foreign = await page.evaluate(async ([url, token, method, body]) => {
    const bearer = token ? { authorization: `Bearer ${token}` } : {};
    const seen = async (options) => fetch(url, options).then(async (answer) => ({ type: answer.type, status: answer.status, text: await answer.text() }), (error) => ({ failed: String(error) }));
    const asked = [
      await seen({ method, headers: { "content-type": "application/json", ...bearer }, ...(method === "POST" ? { body } : {}) }),
      await seen({ method: "POST", headers: { "content-type": "text/plain" }, body }),
      await seen({ method: "POST", mode: "no-cors", headers: { "content-type": "text/plain" }, body }),
      await seen({ method: "POST", mode: "no-cors", body: new Blob([body]) }),
      await seen({ method: "POST", mode: "no-cors", body: new URLSearchParams({ body }) }),
      await seen({ method: "GET", mode: "no-cors" }),
      await seen({ method: "GET" }),
    ];
    navigator.sendBeacon(url, new Blob([body], { type: "text/plain" }));
    const loaded = (element, name) => new Promise((done) => {
      element.onload = () => done(`${name} loaded`);
      element.onerror = () => done(`${name} failed`);
      element.src = url;
      document.body.append(element);
    });
    const tags = [await loaded(new Image(), "img"), await loaded(document.createElement("script"), "script")];
    return { asked, tags };
  }, [`${base}${path}`, token, method, body]);
  // A form of it, sent to a frame.
  const form = page.waitForResponse((answer) => answer.url().startsWith(base) && answer.request().isNavigationRequest());
  await page.evaluate(([url, body]) => {
    document.body.innerHTML = '<iframe name="there"></iframe><form method="post" enctype="text/plain" target="there"><input name="x"></form>';
    const sent = document.querySelector("form");
    sent.action = url;
    sent.querySelector("input").name = body;
    sent.submit();
  }, [`${base}${path}`, body]);
  said[name] = { rebound, foreign, form: (await form).status() };
}
console.log(JSON.stringify(said));
await browser.close();
elsewhere.close();
