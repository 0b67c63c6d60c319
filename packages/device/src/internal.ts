/**
 * Parts that this package's own tests and benchmarks look at. Not for users: nothing here is promised to stay.
 */

export { lowerCopies } from "./cpu/analysis/lower-copies.ts";
export { compileKernel } from "./cpu/codegen/kernel.ts";
export { instantiate } from "./cpu/runtime/instance.ts";
export { DeviceMemory } from "./cpu/runtime/memory.ts";
export { createServer, STAGE, type WorkerReply, type WorkerRequest } from "./cpu/runtime/worker.ts";
export { foldWorkgroups } from "./webgpu/program.ts";
