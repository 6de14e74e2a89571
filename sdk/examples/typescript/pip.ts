// Pip in TypeScript: the file is the character.
import type { Scene, Vote } from "companion";

export const describe = { name: "Pip" };

export function vote({ addressed }: Scene): Vote {
  return addressed ? { state: "speak", importance: 7 } : { state: "listen", importance: 0 };
}

export const speak = (_: Scene): string => "Hello from TypeScript!";
