export * from "./deserialise.ts";
export * from "./loops.ts";
export { findRanges, type ValueRange } from "./ranges.ts";
export * from "./uniformity.ts";
export * from "./verify.ts";
export * from "./written-first.ts";
