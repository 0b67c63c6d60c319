export * from "./counters.ts";
export * from "./device.ts";
export * from "./findings.ts";
export * from "./launch.ts";
