/** Evidence: what was measured, read and checked. */

export * from "./comparable.ts";
export * from "./document.ts";
export * from "./evolution.ts";
export * from "./read-folder.ts";
export * from "./ladder.ts";
export * from "./microbench.ts";
export * from "./ncu.ts";
export * from "./ncu-csv.ts";
export * from "./ncu-metrics.ts";
export * from "./peers.ts";
export * from "./study.ts";
