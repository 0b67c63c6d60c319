/** The one way to every target. */

import type { KernelIR } from "../ir/nodes.ts";
import { emitKernel } from "./core/emitter.ts";
import type { EmitOptions, Emitted } from "./core/result.ts";
import type { EmitTarget } from "./targets.ts";
import type { TargetDefinition } from "./core/target.ts";
import { cuda } from "./cpp/cuda.ts";
import { hip } from "./cpp/hip.ts";
import { js } from "./js/js.ts";
import { wgsl } from "./wgsl/wgsl.ts";

const targets: Readonly<Record<EmitTarget, TargetDefinition>> = { js, wgsl, cuda, hip };

/**
 * Emits a verified kernel as source text.
 *
 * @throws EvolverError UNSUPPORTED_SUBGROUP for a width that the target never has, DYNAMIC_UNIFORMITY and
 *   UNSUPPORTED_SUBGROUP_BARRIER for a kernel that WebGPU would refuse, FORWARD_PROGRESS_UNAVAILABLE for phase barriers on a target
 *   without them
 */
export const emit = (ir: KernelIR, target: EmitTarget, options: EmitOptions = {}): Emitted =>
  emitKernel(targets[target], ir, options);
