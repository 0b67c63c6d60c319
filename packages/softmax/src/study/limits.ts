/** What devices and targets give a workgroup. */

import type { DeviceLimits } from "@evolver/device";
import { emitTargets, type EmitTarget } from "@evolver/kernel";
import { DEFAULT_LIMITS, type RowLimits } from "@evolver/softmax";

/** @param limits null where there is no device, but a model of an NVIDIA GPU */
export function limitsOf(limits: DeviceLimits | null): RowLimits {
  if (limits === null) return targetLimits("cuda");
  return { invocations: limits.maxInvocationsPerWorkgroup, workgroups: limits.maxWorkgroups };
}

/** What source for a target may count on without knowing the device. */
export const targetLimits = (target: EmitTarget): RowLimits => ({
  ...DEFAULT_LIMITS,
  invocations: emitTargets[target].workgroup.invocations,
});
