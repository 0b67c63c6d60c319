/**
 * Counters and modelled time of a module candidate: a plan that the study did not make. It is not trusted: the workgroups that
 * stand for all are chosen at random, and where they could notice that not all run, all of them run.
 */

import { EvolverError } from "@evolver/base";
import { workgroupCount, type Plan, type RunnablePlan } from "@evolver/device";
import { scaleCounters, type MachineProfile } from "@evolver/machine";
import { countersOf } from "./counters.ts";
import { countPlan, modelLaunch, type CountedPlan } from "./modelled.ts";
import { drawnSample } from "./sample.ts";

/** The work that the problem takes, whichever kernel solves it. */
export interface ProblemWork {
  /** Multiply-adds or the like, of which the simulator does some millions a second. */
  readonly operations: number;
  /** Floating-point operations that no honest kernel does without. */
  readonly flops: number;
}

/** Operations that the simulator is given: some seconds. */
const SAMPLE_BUDGET = 24e6;
const SMALLEST_SAMPLE = 8;
/** Of the operations that the problem takes: one product more or less for each sum does not matter. */
const LEAST_SHARE = 0.9;

/**
 * Runs the plan on the simulator, on a sample where that says enough, and models its time.
 *
 * @param seed for the random choice, unknown to the author of the plan
 * @throws EvolverError PLAN_INVALID where what was counted does not suffice to compute the problem
 */
export async function countModuleCandidate(
  bound: RunnablePlan,
  machine: MachineProfile,
  work: ProblemWork,
  seed: number,
): Promise<CountedPlan> {
  const { plan } = bound;
  const [launch] = plan.launches;
  const kernel = launch && plan.kernels[launch.kernel];
  const workgroups = launch === undefined ? 0 : workgroupCount(launch);
  const sample = canSample(plan) ? drawnWorkgroups(workgroups, work, seed) : null;
  if (kernel === undefined || sample === null) {
    const counted = await countPlan(bound, machine);
    checkWork(counted.flops, work);
    return counted;
  }
  const [result] = await bound.run(() => sample);
  const counters = scaleCounters(countersOf(result), workgroups / sample.length);
  checkWork(counters.flops, work);
  return {
    counters,
    workgroups,
    tiles: workgroups,
    sampledTiles: sample.length,
    modelled: modelLaunch({ plan, kernel, workgroups, counters }, machine),
    flops: counters.flops,
  };
}

/** Whether the workgroups of a launch share nothing: it writes only outputs, which are never read, and reads only inputs. */
function canSample({ kernels, buffers, launches }: Plan): boolean {
  const shares = kernels.some(({ params }) =>
    params.some((param) => param.kind !== "scalar" && param.memory.access === "read_write"),
  );
  return launches.length === 1 && !shares && buffers.every(({ role }) => role !== "scratch");
}

/** Some of the workgroups, in order, or null for all. */
export function drawnWorkgroups(
  workgroups: number,
  { operations }: ProblemWork,
  seed: number,
): readonly number[] | null {
  const each = operations / Math.max(1, workgroups);
  const count = 2 * Math.floor(Math.max(SMALLEST_SAMPLE, SAMPLE_BUDGET / each) / 2);
  return count >= workgroups ? null : drawnSample(workgroups, count, seed);
}

/** A plan that computes less than the problem takes leaves the work to workgroups that were not counted, or guesses. */
function checkWork(flops: number, { flops: needed }: ProblemWork): void {
  if (flops >= LEAST_SHARE * needed) return;
  throw new EvolverError(
    "PLAN_INVALID",
    `it was counted at ${flops.toPrecision(3)} floating-point operations, and the problem takes ${needed.toPrecision(3)}`,
    { hint: "share the work evenly among the workgroups; those that are counted are chosen at random" },
  );
}
