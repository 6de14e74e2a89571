// The echo of abi/ABI.md, section 9.

export const describe = { name: "Echo", aliases: ["エコー", "こだま"], version: "1", ops: ["describe", "vote", "speak", "perceive", "result", "compress", "verify"] };

export function vote({ message, addressed }) {
  const text = message.text;
  if (addressed || /echo/i.test(text)) return { state: "speak", importance: 8, ...(addressed && { selected: true }), reason: "called" };
  if (text.includes("bye")) return { state: "speak", importance: 5, closing: "pre-closing", reason: "a farewell" };
  if (/[?？]$/.test(text)) return { state: "speak", importance: 5.5, reason: "a question" };
  return { state: "listen", importance: 0, reason: "nothing to repeat" };
}

export async function speak({ message: { text, from } }) {
  if (text === "") return { text: "", pass: "nothing was said" };
  return { text: await said(text), to: [from] };
}

async function said(text) {
  switch (text) {
    case "!now": return String((await host("now")).unix_ms);
    case "!random": return hex((await host("random", { n: 4 })).bytes);
    case "!history": return (await host("history.get", { limit: 2 })).messages.map(m => `${m.from}: ${m.text}`).join(" / ");
    case "!info": {
      const i = await host("self.info");
      return `${i.id} in ${i.room} by ${i.engine}, generation ${i.generation}`;
    }
    case "!keys": return (await host("kv.list", { prefix: "c", limit: 1000 })).keys.join(",");
    case "!forget": return `forgot: ${(await host("kv.del", { key: "count" })).found}`;
    case "!say": say("One. "); return "One. Two.";
    case "!model": return (await host("model.generate", { messages: [{ role: "user", text: "Say something." }] })).text;
    case "!panic": throw new Error("told to");
  }
  const n = Number(kv.get("count") ?? 0) + 1;
  kv.set("count", String(n));
  return `${text} (${n})`;
}

const hex = base64 => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const bits = [...base64.replace(/=+$/, "")].map(c => letters.indexOf(c).toString(2).padStart(6, "0")).join("");
  return bits.match(/.{8}/g).map(b => parseInt(b, 2).toString(16).padStart(2, "0")).join("");
};

export async function perceive({ perception }) {
  if (typeof perception.body === "string") return { state: "speak", importance: 5, reason: "heard", text: perception.body };
  const { delivered } = await host("action.emit", { action: "nod", parameters: { times: 2 }, perception: perception.title });
  return { state: "listen", importance: 0, reason: `nodded to ${delivered}` };
}

export function result({ action, ok, reason }) {
  kv.set(action, ok ? "done" : reason);
}

export function compress({ turns, length }) {
  return { text: [...turns.map(t => `${t.from ?? ""}: ${t.text}`).join(" / ")].slice(0, length).join("") };
}

export function verify({ keep, draft }) {
  const items = keep.map(k => draft.includes(k.text) ? { id: k.id, status: "kept", quote: k.text } : { id: k.id, status: "missing" });
  const missing = items.filter(i => i.status === "missing").map(i => i.id);
  return { items, verdict: missing.length ? "NO" : "YES", ...(missing.length && { feedback: `missing: ${missing.join(", ")}` }) };
}
