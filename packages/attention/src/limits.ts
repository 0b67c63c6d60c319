/** What a device gives a workgroup, as attention's points ask it. */

import type { Device } from "@evolver/device";
import { DEFAULT_LIMITS } from "./flash/point.ts";
import type { WorkgroupLimits } from "./flash/point.ts";

/** The device's limits, but no more than every CUDA kernel gets, so that points mean the same everywhere. */
export function limitsOf({ limits }: Device): WorkgroupLimits {
  return {
    sharedBytes: Math.min(DEFAULT_LIMITS.sharedBytes, limits.maxSharedBytes),
    invocations: Math.min(DEFAULT_LIMITS.invocations, limits.maxInvocationsPerWorkgroup),
  };
}
