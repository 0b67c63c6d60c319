/**
 * Counters and modelled time of a plan that the study made of a point. A large launch is counted on a sample: tiles of
 * queries, spread evenly over those of one head, stand for those of all heads, which do the same on other data.
 *
 * Where each tile has its own workgroup, those workgroups run. Persistent workgroups take the next tile from a counter: for
 * these, launches are made in which one workgroup gets the chosen tile, and no tile is left after it.
 */

import { EvolverError } from "@evolver/base";
import type { AttentionProblem, AttentionShape } from "@evolver/attention";
import { workgroupCount, type RunnablePlan } from "@evolver/device";
import type { KernelIR } from "@evolver/kernel";
import { countersOf, evenSample, modelLaunch, type CountedPlan, type Inputs } from "@evolver/lab";
import { scaleCounters, type MachineProfile } from "@evolver/machine";
import { countTiles } from "./persistent.ts";

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
 * those before them. The sample is of the first section: no section has more heads.
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

/** What is counted besides the plan. */
export interface CountOptions {
  readonly problem: AttentionProblem;
  readonly machine: MachineProfile;
  /** Chooses the head of which tiles are counted. */
  readonly seed: number;
  /** Called where the sample needs launches of its own. */
  inputs(): Inputs;
}

/**
 * Runs the plan of a point on the simulator, on a sample where it is large, and models its time. What the launch's
 * arguments say of its tiles is believed; `countModuleCandidate` is for other plans.
 */
export async function countAttention(
  bound: RunnablePlan,
  { problem, machine, seed, inputs }: CountOptions,
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
      ? sectionSampleOf(tileCount, headTiles, sectionHeads, problem, seed)
      : sampleOf(tileCount, headTiles, problem, seed);
  const counters =
    sample === null
      ? countersOf((await bound.run())[0])
      : persistent
        ? await countTiles(bound, inputs(), sample)
        : scaleCounters(countersOf((await bound.run(() => sample))[0]), tileCount / sample.length);
  const kernel = plan.kernels[launch.kernel] as KernelIR;
  return {
    counters,
    sampledTiles: sample?.length ?? tileCount,
    tiles: tileCount,
    workgroups,
    // A tile is the model's unit of work, whichever workgroup does it: the busiest multiprocessor has at least
    // its share of whole tiles. That long tiles go first is no part of the model.
    modelled: modelLaunch({ plan, kernel, workgroups: tileCount, counters }, machine),
    flops: counters.flops,
  };
}
