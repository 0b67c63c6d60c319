export { hash } from "./hash.ts";
export * from "./nodes.ts";
export * from "./ops.ts";
export { print, type PrintOptions } from "./print.ts";
export { serialise } from "./serialise.ts";
export * from "./site.ts";
export * from "./types.ts";
export { blocksOf, resultsOf, visitNodes } from "./walk.ts";
