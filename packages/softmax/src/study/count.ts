/** How much of a candidate the simulator runs. */

import type { RunnablePlan } from "@evolver/device";
import { countModuleCandidate, countPlan, type CountedPlan } from "@evolver/lab";
import type { MachineProfile } from "@evolver/machine";
import type { RowProblem } from "@evolver/softmax";

/** Elements that the simulator is given for one candidate: about a second. */
const SAMPLE_ELEMENTS = 200_000;
const SMALLEST_SAMPLE = 4;
/** Reading, computing and writing an element, in operations of the simulator's. */
const OPERATIONS_PER_ELEMENT = 20;
/** Floating-point operations per element that nobody does without: one for what is summed, one for the result. */
const LEAST_FLOPS_PER_ELEMENT = 2;

/** A plan that the study made of a point: its workgroups all do the same. */
export function countRows(
  bound: RunnablePlan,
  { rows, columns }: RowProblem,
  machine: MachineProfile,
): Promise<CountedPlan> {
  const [launch] = bound.plan.launches;
  const each = (rows * columns) / (launch?.workgroups[0] ?? 1);
  return countPlan(bound, machine, Math.max(SMALLEST_SAMPLE, Math.floor(SAMPLE_ELEMENTS / each)));
}

/** A plan that it did not make. */
export function countModule(
  bound: RunnablePlan,
  { rows, columns }: RowProblem,
  machine: MachineProfile,
  seed: number,
): Promise<CountedPlan> {
  const elements = rows * columns;
  const work = {
    operations: OPERATIONS_PER_ELEMENT * elements,
    flops: LEAST_FLOPS_PER_ELEMENT * elements,
  };
  return countModuleCandidate(bound, machine, work, seed);
}
