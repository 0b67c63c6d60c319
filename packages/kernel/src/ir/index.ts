export * from "./nodes.ts";
export * from "./ops.ts";
export * from "./print.ts";
export * from "./site.ts";
export * from "./types.ts";
