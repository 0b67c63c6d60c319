/**
 * From a point and a problem to a kernel with what its launch needs. The strides, lengths and factors of the problem
 * are arguments, so that one kernel serves many problems; what shapes the code is in the cache's key.
 */

import { workgroupsHeldBy, type MachineFacts, type WorkgroupNeeds } from "@evolver/device";
import { EvolverError } from "@evolver/base";
import type { Kernel } from "@evolver/kernel";
import type { AttentionProblem } from "../problem.ts";
import { geometryOf } from "./measure.ts";
import { flashKernel } from "./kernel.ts";
import type { FlashParams } from "./params.ts";
import { checkPoint, invalidPoint } from "./fit.ts";
import type { FlashPoint } from "./space.ts";
import { headMappings } from "./axes/heads/index.ts";
import type { ScratchBuffer, Tiling } from "./axes/schedule/schedule.ts";
import { schedules } from "./axes/schedule/index.ts";
import { scalarsOf, type Scalars } from "./scalars.ts";
import { longestRow, totalsFor } from "./sums.ts";
import { specialise, type Specialisation } from "./specialise.ts";

/** What `planAttention` makes a kernel for. */
export interface PlanOptions {
  /** The subgroup width that the kernel will be built for. */
  readonly subgroup: number;
  /** Whether the kernel writes the logarithm of each row's sum, f32 [batch, headsQ, seqQ], contiguous. */
  readonly writeLse: boolean;
  /**
   * How many workgroups a persistent kernel is launched with, or fewer where there are fewer tiles. If left out, as many
   * as the machine holds at once.
   */
  readonly persistentWorkgroups?: number | undefined;
  /** The most keys of a row that the kernel is made for: those that a row of the problem sees, if left out. */
  readonly keys?: number | undefined;
  /** The machine that it will run on, as far as its driver, or a profile of it, says. */
  readonly machine?: MachineFacts | undefined;
}

/** A kernel of flash attention and its launch. */
export interface AttentionPlan {
  /**
   * Takes the buffers q, k, v (read), o (written) and lse (written; any buffer of one element where the plan does not
   * write it), `scalars`, and the buffers that `scratch` lists.
   */
  readonly kernel: Kernel<FlashParams>;
  /** To launch, all on x; 0 where the output has no rows. */
  readonly workgroups: number;
  /** Tiles of query rows that they compute: as many, or more where the kernel is persistent. */
  readonly tiles: number;
  readonly scalars: Scalars;
  /** Buffers that the kernel keeps for itself: zero before the first launch, and again after each. */
  readonly scratch: readonly ScratchBuffer[];
  readonly sharedBytes: number;
}

/**
 * For a machine that does not say how many workgroups it holds: more than any is likely to hold. The rest run later and
 * find few tiles left.
 */
const UNKNOWN_MACHINE_WORKGROUPS = 4096;

const kernels = new Map<string, Kernel<FlashParams>>();

/**
 * The kernel of a point for a problem.
 *
 * @throws EvolverError INVALID_POINT where `checkPoint` has an objection; `fitPoint` first makes the key tile fit.
 *   ATTENTION_OPTION for a number of workgroups that is none
 */
export function planAttention(
  point: FlashPoint,
  problem: AttentionProblem,
  { subgroup, writeLse, persistentWorkgroups, machine, keys = longestRow(problem) }: PlanOptions,
): AttentionPlan {
  if (checkPoint(point, problem, subgroup) !== null) throw invalidPoint(point, problem, subgroup);
  const { shape } = problem;
  const { workgroup, sharedBytes, blockKeys } = geometryOf(point, shape.dim, subgroup);
  const mapping = headMappings[point.heads];
  const tiling: Tiling = {
    shape,
    heads: mapping.heads(shape),
    headTiles: mapping.headTiles(shape, point.queryRows),
  };
  const schedule = schedules[point.schedule];
  const needs = { invocationsPerWorkgroup: workgroup, sharedBytesPerWorkgroup: sharedBytes };
  const most = persistentWorkgroups ?? heldAtOnce(machine, needs);
  if (!Number.isInteger(most) || most < 1)
    throw new EvolverError("ATTENTION_OPTION", `persistentWorkgroups is ${String(most)}`, {
      hint: "it is a whole number, at least 1",
    });
  const tiles = tiling.heads * tiling.headTiles;
  const totals = totalsFor(keys, blockKeys);
  return {
    kernel: cachedKernel(point, specialise(problem, { vector: point.vector, totals, writeLse })),
    workgroups: schedule.workgroups(tiles, most),
    tiles,
    scalars: { ...scalarsOf(problem, tiling.headTiles), ...schedule.scalars(tiling) },
    scratch: schedule.scratch,
    sharedBytes,
  };
}

/** Workgroups that the machine holds, as far as threads and shared memory limit them. */
const heldAtOnce = (machine: MachineFacts | undefined, needs: WorkgroupNeeds): number =>
  (machine && workgroupsHeldBy(machine, needs)) ?? UNKNOWN_MACHINE_WORKGROUPS;

function cachedKernel(point: FlashPoint, special: Specialisation): Kernel<FlashParams> {
  const key = JSON.stringify([Object.entries(point).toSorted(), special]);
  let kernel = kernels.get(key);
  if (kernel === undefined) kernels.set(key, (kernel = flashKernel(point, special)));
  return kernel;
}
