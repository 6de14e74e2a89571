// A filter in TypeScript: words that companions do not say and do not perceive are masked.
//
//   [handler.ngword]
//   settings = { words = ["spoiler", "ネタバレ"] }
import type { Lined, Lining, Sensed, Sensing } from "companion";

export const describe = {
  name: "NG words",
  settings: { type: "object", properties: { words: { type: "array", items: { type: "string" } } }, required: ["words"] },
};

const mask = (text: string, words: string[]) =>
  words.reduce((text, word) => text.replaceAll(new RegExp(RegExp.escape(word), "giu"), hit => "＊".repeat([...hit].length)), text);

export function line({ text, settings }: Lining): Lined {
  const masked = mask(text, settings.words);
  return masked === text ? {} : { text: masked };
}

export function sense({ perception, settings }: Sensing): Sensed {
  const body = perception.body, masked = mask(JSON.stringify(body ?? null), settings.words);
  return body === undefined || masked === JSON.stringify(body) ? {} : { body: JSON.parse(masked) };
}
