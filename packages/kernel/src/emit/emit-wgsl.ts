/** The way to WGSL alone, so that a page which runs kernels on WebGPU does not download the other targets. */

import type { KernelIR } from "../ir/nodes.ts";
import { emitKernel } from "./core/emitter.ts";
import type { EmitOptions, Emitted } from "./core/result.ts";
import { wgsl } from "./wgsl/wgsl.ts";

/** The same as `emit(ir, "wgsl", options)`. */
export const emitWgsl = (ir: KernelIR, options: EmitOptions = {}): Emitted => emitKernel(wgsl, ir, options);
