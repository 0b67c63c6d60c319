export * from "./uniformity.ts";
export * from "./verify.ts";
