// しりとり: each word begins with the kana that the one before ended with. After five
// exchanges whoever began ends it, with a last message.
import { play } from "./agent.mjs";

const words = ["しりとり", "りんご", "ごりら", "らっぱ", "ぱせり", "りす", "すいか", "かめ", "めだか", "からす", "すずめ", "めがね", "ねこ", "こま", "まり"];
const said = new Set();
const exchanges = 5;
let answers = 0;

// next gives a word that follows, of those that were not said.
function next(word) {
  said.add(word);
  const mine = words.find((w) => !said.has(w) && w.startsWith(word.at(-1)));
  if (!mine) {
    throw new Error(`no word follows ${word}`);
  }
  said.add(mine);
  return mine;
}

await play({
  aoi: {
    async begins(agent) {
      said.add(words[0]);
      await agent.start("haru", { purpose: "しりとりをしましょう", initial_message: words[0] });
    },
    async heard(agent, message) {
      if (++answers < exchanges) {
        await agent.say("respond_chat", next(message.content));
      } else {
        await agent.end("楽しかったです。ありがとう！");
      }
    },
  },
  haru: {
    async heard(agent, message) {
      if (!message.content.endsWith("！")) {
        await agent.say("respond_chat", next(message.content));
      }
    },
  },
});
