// Reads a JSON list of texts, and writes how many tokens each comes to in the vocabulary that is its
// argument. No marks of a chat template are counted, and what looks like one in a text is text.
import { text } from "node:stream/consumers";

const plain = { disallowedSpecial: new Set() };

async function counter(family) {
  switch (family) {
    case "o200k":
    case "cl100k": {
      const { encode } = await import(`gpt-tokenizer/encoding/${family}_base`);
      return (t) => encode(t, plain).length;
    }
    case "mistral": {
      const { default: mistral } = await import("mistral-tokenizer-js");
      return (t) => mistral.encode(t, false).length;
    }
  }
  throw new Error(`no vocabulary is called ${family}`);
}

const count = await counter(process.argv[2]);
process.stdout.write(JSON.stringify(JSON.parse(await text(process.stdin)).map(count)));
