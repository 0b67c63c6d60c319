export * from "./counters.ts";
export { openCpu, type CpuOptions, type CpuProgram } from "./cpu/index.ts";
export * from "./device.ts";
export * from "./findings.ts";
export * from "./launch.ts";
export * from "./open.ts";
export * from "./sim/index.ts";
export * from "./model/costModel.ts";
export * from "./model/profile.ts";
