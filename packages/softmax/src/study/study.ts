/** The study: the space of RowPoint, verified against float64, compared by modelled or measured time. */

import type { PlanBuild, RunnablePlan } from "@evolver/device";
import type { EmitTarget } from "@evolver/kernel";
import {
  candidateSources,
  explainModelled,
  measureCandidate,
  openMachine,
  parseMachine,
  predictFromSample,
  targetOf,
  timesFrom,
  type Case,
  type Measurement,
  type MeasureContext,
  type OpenStudy,
  type Remedies,
  type Study,
  type Target,
} from "@evolver/lab";
import type { MachineProfile } from "@evolver/machine";
import {
  axes,
  checkPoint,
  describePoint,
  fitPoint,
  ladder,
  namedRungs,
  rowPlan,
  type RowPoint,
  type RowProblem,
} from "@evolver/softmax";
import { expectedOf, objectiveCase, rowCases, type RowShape } from "./cases.ts";
import { countModule, countRows } from "./count.ts";
import { parseProblem, rowOptions, titleOf } from "./input.ts";
import { rowKernelOf } from "./kernel.ts";
import { rowLadder } from "./ladder.ts";
import { limitsOf, targetLimits } from "./limits.ts";

/** What to change when a resource decides, the most promising first. */
const REMEDIES: Remedies = {
  arithmetic: ["passes", "vector"],
  "special functions": ["passes"],
  "instruction issue": ["vector", "passes"],
  shuffles: ["reader", "passes"],
  "shared memory": ["subgroups"],
  "first-level cache": ["reader", "vector", "passes"],
  "second-level cache": ["reader", "passes"],
  "device memory": ["passes", "reader"],
  latency: ["subgroups", "vector", "reader"],
};

class OpenRows implements OpenStudy<RowPoint, RowShape> {
  readonly space: OpenStudy<RowPoint>["space"];
  readonly baseline: RowPoint;
  readonly named: Readonly<Record<string, RowPoint>>;
  readonly inputTitle: string;
  readonly profile: string;
  readonly predict?: (point: RowPoint) => Promise<number | null>;
  readonly #problem: RowProblem;
  readonly #machine: MachineProfile;
  readonly #target: Target;

  constructor(problem: RowProblem, machine: MachineProfile, target: Target) {
    this.#problem = problem;
    this.#machine = machine;
    this.#target = target;
    const { subgroupSize } = target;
    const limits = limitsOf(target.limits);
    this.space = { axes, whyInvalid: (point) => checkPoint(point, problem, subgroupSize, limits) };
    const fits = namedRungs.filter(({ point }) => checkPoint(point, problem, subgroupSize, limits) === null);
    this.named = Object.fromEntries(fits.map(({ id, point }) => [id, point]));
    this.baseline = fitPoint((ladder[0] as (typeof ladder)[number]).point, problem, subgroupSize, limits);
    this.inputTitle = titleOf(problem);
    this.profile = timesFrom(target, machine);
    if (target.clocked)
      this.predict = predictFromSample({
        machine,
        subgroupSize,
        inputs: () => this.objectiveCase(0).inputs,
        plan: (point) => rowPlan(point, problem, { subgroup: subgroupSize, forwardProgress: true }),
      });
  }

  cases(seed: number): readonly Case<RowShape>[] {
    return rowCases(this.#problem, seed);
  }

  objectiveCase(seed: number): Case<RowShape> {
    return objectiveCase(this.#problem, seed);
  }

  plan(point: RowPoint, shape: RowShape, build: PlanBuild) {
    return rowPlan(point, shape, build);
  }

  expected(input: Case<RowShape>) {
    return expectedOf(input);
  }

  measure(context: MeasureContext): Promise<Measurement> {
    const [problem, machine] = [this.#problem, this.#machine];
    const made = context.point !== undefined && context.point !== null;
    return measureCandidate(context, {
      target: this.#target,
      machine,
      inputs: () => this.objectiveCase(context.seed).inputs,
      count: (bound: RunnablePlan) =>
        made ? countRows(bound, problem, machine) : countModule(bound, problem, machine, context.seed),
    });
  }

  explain(measurement: Measurement, point: RowPoint | null) {
    return explainModelled(measurement, {
      machine: this.#machine,
      remedies: REMEDIES,
      compulsoryRead: { bytes: 4 * this.#problem.rows * this.#problem.columns, of: "the matrix" },
      description: point === null ? null : describePoint(point),
    });
  }

  describe(point: RowPoint): string {
    return describePoint(point);
  }

  emit(point: RowPoint, build: PlanBuild) {
    const problem = this.#problem;
    return candidateSources({
      point,
      build,
      planFor: (own) => rowPlan(point, problem, own),
      fits: (target: EmitTarget) => checkPoint(point, problem, build.subgroup, targetLimits(target)) === null,
    });
  }
}

/** The study of softmax and layer norm, for the lab. */
export const study: Study<RowPoint, RowShape> = {
  id: "softmax",
  title: "Row softmax and layer norm, f32",
  module: import.meta.url,
  export: "study",
  options: rowOptions,
  parseInput: async (options) => ({ ...parseProblem(options), ...(await parseMachine(options)) }),
  open: async (input, { id }) => {
    const machine = await openMachine(input);
    return new OpenRows(parseProblem(input), machine, await targetOf(id));
  },
  ladder: { rungs: ladder, named: namedRungs, run: rowLadder },
  // Most of those who open the study write no guide.
  guide: async (options) => (await import("./guide.ts")).rowGuide(options),
  kernel: rowKernelOf,
};
