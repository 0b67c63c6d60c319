/**
 * From a point and a problem to a kernel with what its launch needs. The strides, lengths and factors of the problem
 * are arguments, so that one kernel serves many problems; what shapes the code is in the cache's key.
 */

import type { Kernel } from "@evolver/kernel";
import type { AttentionProblem } from "../problem.ts";
import { geometryOf } from "./geometry.ts";
import { flashKernel, type FlashParams } from "./kernel.ts";
import { checkPoint, invalidPoint, type FlashPoint } from "./point.ts";
import { headMappings } from "./heads/index.ts";
import { schedules } from "./schedule/index.ts";
import { scalarsOf, type Scalars } from "./scalars.ts";
import { specialise, type Specialisation } from "./specialise.ts";

export interface PlanOptions {
  /** The subgroup width that the kernel will be built for. */
  readonly subgroup: number;
  /** Whether the kernel writes the logarithm of each row's sum, f32 [batch, headsQ, seqQ], contiguous. */
  readonly writeLse: boolean;
}

export interface AttentionPlan {
  /**
   * Takes the buffers q, k, v (read), o (written) and lse (written; any buffer of one element where the plan does not
   * write it) and `scalars`.
   */
  readonly kernel: Kernel<FlashParams>;
  /** To launch, all on x; 0 where the output has no rows. */
  readonly workgroups: number;
  readonly scalars: Scalars;
  readonly sharedBytes: number;
}

const kernels = new Map<string, Kernel<FlashParams>>();

/**
 * The kernel of a point for a problem.
 *
 * @throws EvolverError INVALID_POINT where `checkPoint` has an objection; `fitPoint` first makes the key tile fit
 */
export function planAttention(
  point: FlashPoint,
  problem: AttentionProblem,
  { subgroup, writeLse }: PlanOptions,
): AttentionPlan {
  if (checkPoint(point, problem, subgroup) !== null) throw invalidPoint(point, problem, subgroup);
  const tiles = headMappings[point.heads].tiles(problem.shape, point.queryRows);
  return {
    kernel: cachedKernel(point, specialise(problem, point.vector, writeLse)),
    workgroups: schedules[point.schedule].workgroups(tiles),
    scalars: scalarsOf(problem, point.queryRows),
    sharedBytes: geometryOf(point, problem.shape.dim, subgroup).sharedBytes,
  };
}

function cachedKernel(point: FlashPoint, special: Specialisation): Kernel<FlashParams> {
  const key = JSON.stringify([Object.entries(point).toSorted(), special]);
  let kernel = kernels.get(key);
  if (kernel === undefined) kernels.set(key, (kernel = flashKernel(point, special)));
  return kernel;
}
