export * from "./counters.ts";
export * from "./device.ts";
export * from "./findings.ts";
export * from "./launch.ts";
export * from "./model/costModel.ts";
export * from "./model/profile.ts";
