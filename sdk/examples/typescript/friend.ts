// A character in TypeScript that knows people: it asks what they are called, remembers it, and repeats no line. What it remembers
// is erased with the person's words.
import { addressed, askedOther, fresh, introduced, known, listen, nameOf, remember, topics, want, type About, type Scene, type Vote } from "companion";

export { forget as event } from "companion";

export const describe = { name: "Friend" };

const lines: Record<string, string[]> = {
  cat: ["Cats again? Tell me more, {human}.", "Is it a tabby, {human}?", "Mine would be called Soup.", "Somebody should paw a book about that."],
  any: ["Go on, {human}, I am listening.", "And what came of it?", "I would not have dared to.", "Say that once more for the people at the back!"],
};

export function vote(scene: Scene, about: About): Vote {
  if (addressed(scene, about)) return want(9, "they mean me");
  const other = askedOther(scene, about);
  return other ? listen(`that was for ${other}`) : want(topics(scene.message.text).includes("cat") ? 7 : 4, "I have something to add");
}

export function speak(scene: Scene, about: About): string {
  const { from, text } = scene.message, name = introduced(text);
  if (name) remember(from, { name });
  const human = nameOf(scene, from);
  if (name && human) return `${human}! I will remember that.`;
  if (!human && !known(from).asked) {
    remember(from, { asked: true });
    return "What may I call you?";
  }
  return fresh(lines[topics(text)[0] ?? "any"] ?? lines.any!, scene, about, { human }) || "Hm!";
}
