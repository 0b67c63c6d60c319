/**
 * The `cpu` device: kernels compiled to WebAssembly with SIMD, workgroups over worker threads.
 *
 * - `operations/`: the pure operations, one row each (table.ts), and how each scalar type is held.
 * - `analysis/`: what is known of a kernel before code is written: classes of nodes, values that are the same for all
 *   lanes, regions between barriers.
 * - `codegen/`: WebAssembly for nodes, regions and the whole kernel.
 * - `wasm/`: the binary format, opcodes, helper functions of a module.
 * - `runtime/`: memory, buffers, threads, launches.
 */

export { openCpu, type CpuOptions } from "./device.ts";
export type { CpuProgram } from "./runtime/host.ts";
