/**
 * Counters and modelled time of a plan that the study did not make. Nothing that it says of itself is believed: which
 * workgroups stand for all is drawn by lot, and where they could tell that not all of them run, all do.
 */

import { visibleKeys, type AttentionProblem } from "@evolver/attention";
import { scaleCounters, type MachineProfile } from "@evolver/machine";
import { EvolverError, deriveSeed, Random } from "@evolver/base";
import { workgroupCount, type Plan, type RunnablePlan } from "@evolver/device";
import { countAll, countersOf, modelLaunch, type CountedPlan } from "./counters.ts";

/** Multiply-adds that the simulator is given: some seconds. */
const SAMPLE_BUDGET = 24e6;
const SMALLEST_SAMPLE = 8;
/** Of the operations that the problem takes: one product more or less for each sum does not matter. */
const LEAST_SHARE = 0.9;

/**
 * Runs the plan on the simulator, on a sample where that says enough, and models its time.
 *
 * @param pick for the lots, unknown to whoever made the plan
 * @throws EvolverError PLAN_INVALID where what was counted does not suffice to compute the problem
 */
export async function countForeign(
  bound: RunnablePlan,
  problem: AttentionProblem,
  profile: MachineProfile,
  pick: number,
): Promise<CountedPlan> {
  const { plan } = bound;
  const [launch] = plan.launches;
  const kernel = launch && plan.kernels[launch.kernel];
  const workgroups = launch === undefined ? 0 : workgroupCount(launch);
  const sample = canSample(plan) ? drawWorkgroups(workgroups, problem, pick) : null;
  if (launch === undefined || kernel === undefined || sample === null) {
    const { total, ...counted } = await countAll(bound, profile);
    checkWork(total, problem);
    return counted;
  }
  const [result] = await bound.run(() => sample);
  const counters = scaleCounters(countersOf(result), workgroups / sample.length);
  checkWork(counters.flops, problem);
  const modelled = modelLaunch({ plan, kernel, workgroups, counters }, profile);
  return { counters, sampledTiles: sample.length, tiles: workgroups, workgroups, modelled };
}

/** Workgroups of one launch that share nothing: it writes outputs, which nobody reads, and reads inputs. */
function canSample({ kernels, buffers, launches }: Plan): boolean {
  const shares = kernels.some(({ params }) =>
    params.some((param) => param.kind !== "scalar" && param.memory.access === "read_write"),
  );
  return launches.length === 1 && !shares && buffers.every(({ role }) => role !== "scratch");
}

/**
 * Some of the workgroups, in order, or null for all: one by lot from each of equal stretches, in the first half, and those
 * that lie as far from the end. Each is as likely as any, and work that grows evenly along them is not misjudged.
 */
export function drawWorkgroups(
  workgroups: number,
  { shape }: AttentionProblem,
  pick: number,
): readonly number[] | null {
  const { batch, headsQ, seqQ, seqK, dim } = shape;
  const each = (2 * batch * headsQ * seqQ * seqK * dim) / Math.max(1, workgroups);
  const count = 2 * Math.floor(Math.max(SMALLEST_SAMPLE, SAMPLE_BUDGET / each) / 2);
  if (count >= workgroups) return null;
  const random = new Random(deriveSeed(pick, "workgroups"));
  const drawn = Array.from({ length: count / 2 }, (_, i) => {
    const [from, to] = [Math.floor((i * workgroups) / count), Math.floor(((i + 1) * workgroups) / count)];
    return from + random.below(to - from);
  });
  return [...drawn, ...drawn.map((index) => workgroups - 1 - index).toReversed()];
}

/** Whoever computes less than the products of the problem leaves it to workgroups that were not counted, or to luck. */
function checkWork(flops: number, { shape, mask }: AttentionProblem): void {
  const { batch, headsQ, seqQ, dim } = shape;
  let keys = 0;
  for (let row = 0; row < seqQ; row++) {
    const { begin, end } = visibleKeys(mask, shape, row);
    keys += end - begin;
  }
  const needed = 4 * batch * headsQ * keys * dim;
  if (flops >= LEAST_SHARE * needed) return;
  throw new EvolverError(
    "PLAN_INVALID",
    `it was counted at ${flops.toPrecision(3)} floating-point operations, and the problem takes ${needed.toPrecision(3)}`,
    { hint: "share the work out evenly among the workgroups; those that are counted are drawn by lot" },
  );
}
