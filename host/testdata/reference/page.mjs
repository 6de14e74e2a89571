// Runs the page of the AI Companion Protocol's reference server as it is, in a DOM of Node: node page.mjs
// CLIENT DAEMON. CLIENT is the folder of its client, DAEMON the daemon's URL; the page's own
// server, http://localhost:3001, is taken for the latter. It prints what happens, a line of
// JSON each, and sends its perception when a line comes on its standard input.
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { register } from "node:module";
import { createInterface } from "node:readline";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { transformAsync } from "@babel/core";
import solid from "babel-preset-solid";
import typescript from "@babel/preset-typescript";
import { JSDOM } from "jsdom";

const [client, daemon] = process.argv.slice(2);
const written = "http://localhost:3001";
const says = (event, rest = {}) => console.log(JSON.stringify({ event, ...rest }));

// The page is where its own server would have had it.
const dom = new JSDOM('<!doctype html><div id="app"></div>', { url: "http://localhost:3000/" });
const { window } = dom;
for (const name of ["window", "document", "Node", "Element", "HTMLElement", "Event", "FileReader"]) {
  Object.defineProperty(globalThis, name, { value: window[name] ?? window, configurable: true, writable: true });
}

const there = (url) => String(url).replace(written, daemon);

globalThis.WebSocket = class extends window.WebSocket {
  constructor(url) {
    super(there(url).replace(/^http/, "ws"));
    this.addEventListener("message", (m) => says("frame", { frame: JSON.parse(m.data) }));
    this.addEventListener("close", (c) => says("closed", { code: c.code }));
    this.addEventListener("error", () => says("refused", { what: "the WebSocket" }));
  }
};

// A browser asks first, and shows the page no answer that is not meant for it.
const ask = globalThis.fetch;
globalThis.fetch = async (url, options) => {
  const origin = window.location.origin;
  const first = await ask(there(url), {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": options.method, "access-control-request-headers": "content-type" },
  });
  const allows = (res) => res.headers.get("access-control-allow-origin") === origin;
  if (!first.ok || !allows(first)) {
    says("refused", { what: await first.text() });
    throw new TypeError("Failed to fetch");
  }
  const res = await ask(there(url), { ...options, headers: { ...options.headers, origin } });
  if (!allows(res)) throw new TypeError("Failed to fetch");
  says("answered", { path: new URL(url).pathname, status: res.status, body: await res.clone().json() });
  return res;
};

// The page is compiled beside the packages that it imports, of which it wants what browsers get.
register("data:text/javascript," + encodeURIComponent(`export const resolve = (name, context, next) =>
  next(name, name.startsWith("solid-js") ? { ...context, conditions: ["browser", ...context.conditions] } : context)`));
const route = path.join(client, "src/routes/index.tsx");
const { code } = await transformAsync(readFileSync(route, "utf8"), {
  filename: route, babelrc: false, configFile: false, cwd: import.meta.dirname,
  presets: [[solid, { generate: "dom" }], typescript],
});
const dir = mkdtempSync(path.join(import.meta.dirname, "node_modules", "page-"));
process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
const compiled = path.join(dir, "page.mjs");
writeFileSync(compiled, code);
const { default: Home } = await import(pathToFileURL(compiled));
const { render } = await import("solid-js/web");
render(Home, document.getElementById("app"));

const find = (what) => document.querySelector(what);
const until = async (what, ok) => {
  for (let n = 0; !ok(); n++) {
    if (n > 600) throw new Error("never: " + what);
    await new Promise((done) => setTimeout(done, 50));
  }
};

process.on("unhandledRejection", (why) => says("failed", { why: String(why) }));
find("button").click();
await until("the page is connected", () => document.body.textContent.includes("WebSocket接続中"));
says("connected");
for await (const line of createInterface({ input: process.stdin })) {
  const text = find("textarea");
  text.value = line;
  text.dispatchEvent(new window.Event("input", { bubbles: true }));
  find("form").dispatchEvent(new window.Event("submit", { bubbles: true, cancelable: true }));
  says("sent", { line });
  await until("four actions are shown", () => document.querySelectorAll("pre code").length >= 4);
  says("shown", { actions: [...document.querySelectorAll("pre code")].map((c) => JSON.parse(c.textContent)) });
}
process.exit(0);
