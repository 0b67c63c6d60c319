/** What devices and targets give a workgroup. */

import type { DeviceLimits } from "@evolver/device";
import type { EmitTarget } from "@evolver/kernel";
import { DEFAULT_LIMITS, type RowLimits } from "@evolver/softmax";

/** @param limits null where there is no device, but a model of one */
export function limitsOf(limits: DeviceLimits | null): RowLimits {
  if (limits === null) return { ...DEFAULT_LIMITS, invocations: 1024 };
  return { invocations: limits.maxInvocationsPerWorkgroup, workgroups: limits.maxWorkgroups };
}

/** What source for a target may count on without knowing the device. */
export function targetLimits(target: EmitTarget): RowLimits {
  return target === "wgsl" ? DEFAULT_LIMITS : { ...DEFAULT_LIMITS, invocations: 1024 };
}
