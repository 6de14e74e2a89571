// The programs of ../agents with the packages that are installed here: what they import
// by name is looked for in this folder.
//
//   node_modules/node/bin/node --import ./newest.mjs ../agents/agents.mjs
import { registerHooks } from "node:module";

registerHooks({
  resolve(name, context, next) {
    const theirs = /^[./]|^node:|^file:/.test(name) || context.parentURL?.includes("/node_modules/");
    return next(name, theirs ? context : { ...context, parentURL: import.meta.url });
  },
});
