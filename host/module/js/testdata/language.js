// Runs the checks of language.txt, in the engine and in Node alike: a check is the body of an async function in strict mode, or one
// expression.
const Async = (async () => {}).constructor;
const known = new Set([Object.prototype, null]);

function run(code) {
  try {
    return new Async(`"use strict"; return (${code}\n)`);
  } catch {
    return new Async(`"use strict"; ${code}`);
  }
}

export async function check(code) {
  try {
    return show(await run(code)());
  } catch (e) {
    return e instanceof Error ? `throws ${e.name}` : `throws ${show(e)}`;
  }
}

// show writes a value so that two that differ are written differently.
function show(v) {
  switch (typeof v) {
    case "string": return JSON.stringify(v);
    case "number": return Object.is(v, -0) ? "-0" : String(v);
    case "bigint": return `${v}n`;
    case "symbol": case "boolean": case "undefined": return String(v);
    case "function": return "function";
  }
  if (v === null) return "null";
  if (Array.isArray(v)) return `[${Array.from(v, (e, i) => i in v ? show(e) : "hole").join(", ")}]`;
  if (v instanceof Map) return `Map {${[...v].map(([k, e]) => `${show(k)} => ${show(e)}`).join(", ")}}`;
  if (v instanceof Set) return `Set {${[...v].map(show).join(", ")}}`;
  if (v instanceof Date) return `Date ${isNaN(v) ? "invalid" : v.toISOString()}`;
  if (v instanceof RegExp) return String(v);
  if (v instanceof Error) return `${v.name}: ${v.message}`;
  if (ArrayBuffer.isView(v) && !(v instanceof DataView)) return `${v.constructor.name} [${[...v].map(show).join(", ")}]`;
  const of = known.has(Object.getPrototypeOf(v)) ? "" : `${v.constructor?.name ?? "?"} `;
  return `${of}{${Reflect.ownKeys(v).map(k => `${typeof k === "symbol" ? String(k) : k}: ${show(v[k])}`).join(", ")}}`;
}

export const event = ({ checks }) => Promise.all(checks.map(check));
