/**
 * Counters and modelled time of an attention plan. A large launch is counted on a sample: the workgroups of one head,
 * spread evenly over its tiles, stand for those of all heads, which do the same on other data.
 */

import {
  modelTime,
  scaleCounters,
  type Counters,
  type MachineProfile,
  type ModelledTime,
  type RunResult,
} from "@evolver/device";
import { elementBytes, EvolverError, sharedMemoryBytes, type KernelIR } from "@evolver/kernel";
import type { AttentionProblem } from "@evolver/attention";
import type { BoundPlan, Plan, PlanLaunch } from "@evolver/lab";

export interface CountedPlan {
  /** For all workgroups, scaled where only a sample ran. */
  readonly counters: Counters;
  readonly sampledWorkgroups: number;
  readonly workgroups: number;
  readonly modelled: ModelledTime;
}

/** Multiply-adds that the simulator is given for one candidate: a second or so. */
const SAMPLE_BUDGET = 6e6;
const SMALLEST_SAMPLE = 4;

/** Linear indices of the workgroups to count, or null for all. `pick` chooses the head. */
export function sampleOf(
  workgroups: number,
  problem: AttentionProblem,
  pick: number,
): readonly number[] | null {
  const { batch, headsQ, seqQ, seqK, dim } = problem.shape;
  const heads = batch * headsQ;
  if (workgroups % heads !== 0) return null;
  const tiles = workgroups / heads;
  const perWorkgroup = (2 * seqQ * seqK * dim) / tiles;
  const affordable = Math.max(SMALLEST_SAMPLE, Math.floor(SAMPLE_BUDGET / perWorkgroup));
  if (affordable >= workgroups) return null;
  const head = pick % heads;
  return evenSample(tiles, Math.min(tiles, affordable)).map((tile) => head * tiles + tile);
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

/** Runs the plan on the simulator, on a sample where it is large, and models its time. */
export async function countPlan(
  bound: BoundPlan,
  problem: AttentionProblem,
  profile: MachineProfile,
  pick: number,
): Promise<CountedPlan> {
  const [launch] = bound.plan.launches;
  if (launch === undefined || bound.plan.launches.length > 1) return countAll(bound, profile);
  const workgroups = countOf(launch);
  const sample = sampleOf(workgroups, problem, pick);
  const [result] = await bound.run(() => sample);
  const counted = countersOf(result);
  const ran = sample?.length ?? workgroups;
  const counters = sample === null ? counted : scaleCounters(counted, workgroups / ran);
  const kernel = bound.plan.kernels[launch.kernel] as KernelIR;
  return {
    counters,
    sampledWorkgroups: ran,
    workgroups,
    modelled: modelLaunch(bound.plan, kernel, workgroups, counters, profile),
  };
}

/** Plans of several launches are counted in full; their times add up. */
async function countAll(bound: BoundPlan, profile: MachineProfile): Promise<CountedPlan> {
  const { plan } = bound;
  const results = await bound.run();
  const modelled = plan.launches.map((launch, i) =>
    modelLaunch(
      plan,
      plan.kernels[launch.kernel] as KernelIR,
      countOf(launch),
      countersOf(results[i]),
      profile,
    ),
  );
  const slowest = modelled.toSorted((a, b) => b.timeMs - a.timeMs)[0];
  if (slowest === undefined) throw new EvolverError("PLAN_INVALID", "The plan launches nothing.");
  const workgroups = plan.launches.reduce((sum, launch) => sum + countOf(launch), 0);
  const timeMs = modelled.reduce((sum, each) => sum + each.timeMs, 0);
  const largest = results[modelled.indexOf(slowest)];
  return {
    counters: countersOf(largest),
    sampledWorkgroups: workgroups,
    workgroups,
    modelled: { ...slowest, timeMs },
  };
}

function modelLaunch(
  plan: Plan,
  kernel: KernelIR,
  workgroups: number,
  counters: Counters,
  profile: MachineProfile,
): ModelledTime {
  const [x, y, z] = kernel.workgroupSize;
  return modelTime(profile, {
    counters,
    workgroups,
    invocationsPerWorkgroup: x * y * z,
    sharedBytesPerWorkgroup: kernel.shared.reduce((sum, memory) => sum + sharedMemoryBytes(memory), 0),
    compulsoryBytes: plan.buffers.reduce(
      (sum, { role, length }) => sum + (role === "scratch" ? 0 : length * elementBytes("f32")),
      0,
    ),
  });
}

const countOf = ({ workgroups: [x, y, z] }: PlanLaunch): number => x * y * z;

function countersOf(result: RunResult | undefined): Counters {
  if (result?.counters) return result.counters;
  throw new EvolverError("NO_COUNTERS", "the device counts nothing; counters come from `sim`");
}
