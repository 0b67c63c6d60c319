/** The `cpu` device: kernels compiled to WebAssembly with SIMD, workgroups over worker threads. */

export { openCpu, type CpuOptions } from "./device.ts";
export type { CpuProgram } from "./runtime/host.ts";
