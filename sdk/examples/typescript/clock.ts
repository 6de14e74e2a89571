// A source in TypeScript: each full minute that is a multiple of `every`, companions perceive the time (UTC).
//
//   [module.clock]
//   grant = ["perception.emit", "timer.set"]
//   [handler.clock]
//   settings = { every = 30 }
import type { Timer } from "companion";

export const describe = {
  name: "Clock",
  needs: ["perception.emit", "timer.set"],
  settings: { type: "object", properties: { every: { type: "integer", minimum: 1 } }, required: ["every"] },
};

export async function timer({ name, companions, settings }: Timer): Promise<void> {
  const { unix_ms } = await host("now"), span = settings.every * 60_000;
  await host("timer.set", { name: "next", after_ms: Math.max(100, span - unix_ms % span) });
  if (name !== "next") return; // it has just been loaded
  const time = new Date(unix_ms).toISOString().slice(11, 16);
  for (const companion of companions) {
    await host("perception.emit", { companion, title: "clock", body: { time, text: `It is ${time}.` } }).catch(e => console.warn(companion, e));
  }
}
