// worker-a talks with a companion that lives in the daemon, until it has answered three
// times.
import { play } from "./agent.mjs";

let answers = 0;

await play({
  "worker-a": {
    async begins(agent) {
      await agent.start("polly", { purpose: "オウムと話す", initial_message: "こんにちは" });
    },
    async heard(agent, message) {
      if (++answers < 3) {
        await agent.say("respond_chat", `もう一度、${answers}`);
      } else {
        await agent.end();
      }
    },
  },
});
