// Pip with Extism's PDK for AssemblyScript. Build it with: npm ci && npx asc pip.ts -O --exportStart _initialize -o pip.wasm

import { Host } from "@extism/as-pdk";

// The PDK's outputString counts letters where it has to count bytes.
function output(text: string): i32 {
  Host.output(Uint8Array.wrap(String.UTF8.encode(text)));
  return 0;
}

export function vote(): i32 {
  return output(Host.inputString().includes('"addressed":true')
    ? '{"state":"speak","importance":7}'
    : '{"state":"listen","importance":0}');
}

export function speak(): i32 {
  return output("Hello from Extism!");
}
