export * from "./deserialise.ts";
export * from "./loops.ts";
export * from "./uniformity.ts";
export * from "./verify.ts";
export * from "./written-first.ts";
