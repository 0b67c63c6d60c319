/** The one way to every emitter. */

import type { KernelIR } from "../ir/nodes.ts";
import { CudaEmitter } from "./cpp/cuda.ts";
import { HipEmitter } from "./cpp/hip.ts";
import { JsEmitter } from "./js/js.ts";
import { WgslEmitter } from "./wgsl/wgsl.ts";
import type { EmitOptions, Emitted, EmitTarget } from "./core/result.ts";

/** Whether subgroups on a target may wait for each other: what to build a kernel with for it. See BuildOptions. */
export const targetForwardProgress = (target: EmitTarget): boolean => target === "cuda" || target === "hip";

/**
 * Emits a verified kernel as source text.
 *
 * @throws EvolverError UNSUPPORTED_SUBGROUP for a width that the target never has, DYNAMIC_UNIFORMITY and
 *   UNSUPPORTED_SUBGROUP_BARRIER for a kernel that WebGPU would refuse, FORWARD_PROGRESS_UNAVAILABLE for phase barriers on a target
 *   without them
 */
export function emit(ir: KernelIR, target: EmitTarget, options: EmitOptions = {}): Emitted {
  switch (target) {
    case "cuda":
      return new CudaEmitter(ir, options).emit();
    case "hip":
      return new HipEmitter(ir, options).emit();
    case "wgsl":
      return new WgslEmitter(ir, options).emit();
    case "js":
      return new JsEmitter(ir, options).emit();
  }
}
