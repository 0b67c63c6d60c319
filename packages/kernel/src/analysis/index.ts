export * from "./deserialise.ts";
export * from "./uniformity.ts";
export * from "./verify.ts";
