/**
 * Counters and modelled time of a plan that the study made of a point. A large launch is counted on a sample: tiles of queries, spread
 * evenly over those of one head, stand for those of all heads, which do the same on other data.
 *
 * Where each tile has a workgroup of its own, those workgroups run. Persistent workgroups take whatever tile is next:
 * there, launches are made in which one workgroup finds the tile that is wanted, and none after it.
 */

import {
  estimateRegisters,
  modelTime,
  scaleCounters,
  type MachineProfile,
  type ModelConstants,
  type ModelledTime,
  type Workload,
} from "@evolver/machine";
import { workgroupCount, type Counters, type Plan, type RunnablePlan, type RunResult } from "@evolver/device";
import { EvolverError } from "@evolver/base";
import { elementBytes, sharedMemoryBytes, type KernelIR } from "@evolver/kernel";
import type { AttentionProblem, AttentionShape } from "@evolver/attention";
import { countTiles, type Inputs } from "./persistent.ts";

export interface CountedPlan {
  /** For the whole launch, scaled where only a sample of its tiles ran. */
  readonly counters: Counters;
  readonly sampledTiles: number;
  readonly tiles: number;
  readonly workgroups: number;
  readonly modelled: ModelledTime;
}

/** What the launch's arguments say of its tiles; the last two only where workgroups are persistent. */
interface TileArguments {
  readonly headTiles: number;
  readonly tileCount?: number;
  readonly sectionHeads?: number;
}

/** Multiply-adds that the simulator is given for one candidate: a second or so. */
const SAMPLE_BUDGET = 6e6;
const SMALLEST_SAMPLE = 4;

/**
 * Which of the tiles to count, by their numbers, or null for all. `pick` chooses the head.
 *
 * @param tiles of the launch
 * @param headTiles tiles of a head, one after another
 */
export function sampleOf(
  tiles: number,
  headTiles: number,
  { shape }: AttentionProblem,
  pick: number,
): readonly number[] | null {
  const affordable = affordableTiles(tiles, shape);
  if (affordable >= tiles) return null;
  const head = pick % (tiles / headTiles);
  return evenSample(headTiles, Math.min(headTiles, affordable)).map((tile) => head * headTiles + tile);
}

/**
 * The same for tiles that come in another order: section by section, and in one the last tiles of all its heads, then
 * those before them. Of the first section, which has as many heads as any.
 */
export function sectionSampleOf(
  tiles: number,
  headTiles: number,
  heads: number,
  { shape }: AttentionProblem,
  pick: number,
): readonly number[] | null {
  const affordable = affordableTiles(tiles, shape);
  if (affordable >= tiles) return null;
  const head = pick % heads;
  return evenSample(headTiles, Math.min(headTiles, affordable)).map((tile) => tile * heads + head);
}

function affordableTiles(tiles: number, { batch, headsQ, seqQ, seqK, dim }: AttentionShape): number {
  const each = (2 * batch * headsQ * seqQ * seqK * dim) / tiles;
  return Math.max(SMALLEST_SAMPLE, Math.floor(SAMPLE_BUDGET / each));
}

/**
 * About `count` of the tiles, from equal stretches, the same from both ends: so what grows evenly along the tiles, as
 * causal work does, is neither over- nor underestimated. An even number of tiles has no middle, and gets an even sample.
 */
function evenSample(tiles: number, count: number): number[] {
  const size = count < tiles && count % 2 === 1 && tiles % 2 === 0 ? count - 1 : count;
  const fromStart = (i: number): number => Math.floor(((i + 0.5) * tiles) / size);
  return Array.from({ length: size }, (_, i) =>
    i < size / 2 ? fromStart(i) : tiles - 1 - fromStart(size - 1 - i),
  );
}

/**
 * Runs the plan of a point on the simulator, on a sample where it is large, and models its time. What the launch's
 * arguments say of its tiles is believed; `countForeign` is for other plans.
 *
 * @param inputs called where the sample needs launches of its own
 */
export async function countPlan(
  bound: RunnablePlan,
  inputs: () => Inputs,
  problem: AttentionProblem,
  profile: MachineProfile,
  pick: number,
): Promise<CountedPlan> {
  const { plan } = bound;
  const [launch] = plan.launches;
  if (launch === undefined || plan.launches.length > 1)
    throw new EvolverError("PLAN_INVALID", "a plan of one launch is wanted");
  const workgroups = workgroupCount(launch);
  const { headTiles, tileCount = workgroups, sectionHeads } = launch.args as unknown as TileArguments;
  const persistent = sectionHeads !== undefined;
  const sample =
    persistent && problem.mask.kind === "causal"
      ? sectionSampleOf(tileCount, headTiles, sectionHeads, problem, pick)
      : sampleOf(tileCount, headTiles, problem, pick);
  const counters =
    sample === null
      ? countersOf((await bound.run())[0])
      : persistent
        ? await countTiles(bound, inputs(), sample)
        : scaleCounters(countersOf((await bound.run(() => sample))[0]), tileCount / sample.length);
  return {
    counters,
    sampledTiles: sample?.length ?? tileCount,
    tiles: tileCount,
    workgroups,
    // A tile is the model's unit of work, whichever workgroup does it: the busiest multiprocessor has no less than
    // its share of whole tiles. That long tiles go first is no part of the model.
    modelled: modelLaunch(
      { plan, kernel: plan.kernels[launch.kernel] as KernelIR, workgroups: tileCount, counters },
      profile,
    ),
  };
}

/** Counts all launches of a plan in full; their times add up. `total` are the flops of all, the counters the slowest's. */
export async function countAll(
  bound: RunnablePlan,
  profile: MachineProfile,
): Promise<CountedPlan & { readonly total: number }> {
  const { plan } = bound;
  const results = await bound.run();
  const modelled = plan.launches.map((launch, i) =>
    modelLaunch(
      {
        plan,
        kernel: plan.kernels[launch.kernel] as KernelIR,
        workgroups: workgroupCount(launch),
        counters: countersOf(results[i]),
      },
      profile,
    ),
  );
  const slowest = modelled.toSorted((a, b) => b.timeMs - a.timeMs)[0];
  if (slowest === undefined) throw new EvolverError("PLAN_INVALID", "The plan launches nothing.");
  const workgroups = plan.launches.reduce((sum, launch) => sum + workgroupCount(launch), 0);
  const timeMs = modelled.reduce((sum, each) => sum + each.timeMs, 0);
  const largest = results[modelled.indexOf(slowest)];
  return {
    counters: countersOf(largest),
    sampledTiles: workgroups,
    tiles: workgroups,
    workgroups,
    modelled: { ...slowest, timeMs },
    total: results.reduce((sum, result) => sum + countersOf(result).flops, 0),
  };
}

/** A launch of a plan, and what it did. */
export interface CountedLaunch {
  readonly plan: Plan;
  readonly kernel: KernelIR;
  /** Units of work that multiprocessors share out, with counters for all. */
  readonly workgroups: number;
  readonly counters: Counters;
}

/** The time of one launch of a plan. */
export function modelLaunch(
  { plan, kernel, workgroups, counters }: CountedLaunch,
  profile: MachineProfile,
  constants?: ModelConstants,
): ModelledTime {
  const [x, y, z] = kernel.workgroupSize;
  const workload: Workload = {
    counters,
    workgroups,
    invocationsPerWorkgroup: x * y * z,
    sharedBytesPerWorkgroup: kernel.shared.reduce((sum, memory) => sum + sharedMemoryBytes(memory), 0),
    registersPerInvocation: estimateRegisters(kernel),
    compulsoryBytes: plan.buffers.reduce(
      (sum, { role, element, length }) => sum + (role === "scratch" ? 0 : length * elementBytes(element)),
      0,
    ),
  };
  return modelTime(profile, workload, constants);
}

export function countersOf(result: RunResult | undefined): Counters {
  if (result?.counters) return result.counters;
  throw new EvolverError("NO_COUNTERS", "the device counts nothing; counters come from `sim`");
}
