/** Emitters: a kernel's IR as source text for a target, with a line map and a report of what became of each request. */

import type { KernelIR } from "../ir/nodes.ts";
import { CudaEmitter } from "./cuda.ts";
import { HipEmitter } from "./hip.ts";
import { JsEmitter } from "./js.ts";
import type { EmitOptions, Emitted, EmitTarget } from "./result.ts";

export { assertNoFallback } from "./result.ts";
export type {
  Emitted,
  EmitOptions,
  EmitTarget,
  LoweringEntry,
  LoweringReport,
  StorageBinding,
  UniformField,
} from "./result.ts";

/** Emits a verified kernel as source text. */
export function emit(ir: KernelIR, target: EmitTarget, options: EmitOptions = {}): Emitted {
  switch (target) {
    case "cuda":
      return new CudaEmitter(ir, options).emit();
    case "hip":
      return new HipEmitter(ir, options).emit();
    default:
      return new JsEmitter(ir, options).emit();
  }
}
