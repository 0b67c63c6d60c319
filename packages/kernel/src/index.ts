export * from "./errors.ts";
export * from "./ir/index.ts";
export * as math from "./math.ts";
export * from "./frontend/params.ts";
export * from "./frontend/kernel.ts";
