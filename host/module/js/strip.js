// Takes the types out of TypeScript, as a file of this engine: what is asked is asked as an event.
import { transform } from "./index";

export const describe = { name: "TypeScript", ops: ["describe", "event"] };

export function event({ text }) {
  try {
    return { code: transform(text, { transforms: ["typescript"], disableESTransforms: true }).code };
  } catch (e) {
    return { wrong: e.message.replace(/^Error transforming [^:]*: /, "").replace(/ \(\d+:\d+\)$/, ""), line: e.loc?.line, column: e.loc?.column };
  }
}
