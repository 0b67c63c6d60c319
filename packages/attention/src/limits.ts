/** The limits of devices and targets that attention's points need. */

import { deviceRows, type Device } from "@evolver/device";
import { emitTargets, type EmitTarget } from "@evolver/kernel";
import { DEFAULT_LIMITS } from "./flash/fit.ts";
import type { WorkgroupLimits } from "./flash/fit.ts";

/** Where a driver decides what runs kernels, narrower subgroups are a processor's: SwiftShader's, llvmpipe's. */
const NARROWEST_GPU = 16;
/** CPUs have 16 or 32 vector registers, and their compilers take a minute for code that needs hundreds. */
const PROCESSOR_REGISTERS = 96;

/** The device's limits, but no more than every CUDA kernel gets, so that points mean the same everywhere. */
export function limitsOf({
  id,
  limits,
  subgroupSize,
}: Pick<Device, "id" | "limits" | "subgroupSize">): WorkgroupLimits {
  return {
    sharedBytes: Math.min(DEFAULT_LIMITS.sharedBytes, limits.maxSharedBytes),
    invocations: Math.min(DEFAULT_LIMITS.invocations, limits.maxInvocationsPerWorkgroup),
    ...(deviceRows[id].hardware === "any" &&
      subgroupSize < NARROWEST_GPU && { registers: PROCESSOR_REGISTERS }),
  };
}

/** What source for a target may count on without knowing the device. */
export const targetLimits = (target: EmitTarget): WorkgroupLimits => emitTargets[target].workgroup;
