// The echo once more, as a maker writes it who imports the helpers.
import { listen, normal, pass, question, want } from "companion";
import * as echo from "./echo.js";

export * from "./echo.js";

export function vote({ message: { text }, addressed }) {
  if (addressed || normal(text).includes("echo")) return { ...want(8, "called"), ...(addressed && { selected: true }) };
  if (text.includes("bye")) return { ...want(5, "a farewell"), closing: "pre-closing" };
  return question(text) ? want(5.5, "a question") : listen("nothing to repeat");
}

export const speak = scene => scene.message.text === "" ? pass("nothing was said") : echo.speak(scene);
