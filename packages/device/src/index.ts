export * from "./core/counters.ts";
export { openCpu, type CpuOptions, type CpuProgram } from "./cpu/index.ts";
export * from "./core/device.ts";
export * from "./core/findings.ts";
export * from "./core/half.ts";
export * from "./core/launch.ts";
export * from "./core/open.ts";
export * from "./sim/index.ts";
