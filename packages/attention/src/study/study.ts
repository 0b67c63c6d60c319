/** The attention study: the space of FlashPoint, verified against float64, compared by modelled time. */

import {
  attentionPlan,
  axes,
  checkPoint,
  DEFAULT_LIMITS,
  ladder,
  namedRungs,
  limitsOf,
  targetLimits,
  type AttentionProblem,
  type FlashPoint,
} from "@evolver/attention";
import { openSim, type Plan, type PlanBuild } from "@evolver/device";
import {
  candidateSources,
  countModuleCandidate,
  explainModelled,
  measureCandidate,
  openMachine,
  orNull,
  parseMachine,
  targetOf,
  timesFrom,
  type Case,
  type Explanation,
  type Measurement,
  type MeasureContext,
  type OpenStudy,
  type SourceFile,
  type Study,
  type Target,
} from "@evolver/lab";
import { factsOf, type MachineProfile, type TermName } from "@evolver/machine";
import { attentionCases, expectedOf, objectiveCase, type AttentionCaseShape } from "./cases.ts";
import { countAttention } from "./counters.ts";
import { canExtrapolate } from "./extrapolate.ts";
import {
  attentionOptions,
  openAttentionInput,
  parseAttentionInput,
  type AttentionInput,
  type OpenedInput,
} from "./input.ts";
import { attentionCommands } from "./measurements.ts";
import { attentionKernel } from "./kernel.ts";
import { attentionLadder } from "./ladder.ts";
import { describePoint, rungPoints } from "./points.ts";
import { TimePredictor } from "./predict.ts";
import { parseShape } from "./shape.ts";
import { workOf } from "./work.ts";

/** What to change when a resource decides, the most promising first. */
const REMEDIES: Readonly<Record<TermName, readonly (keyof FlashPoint)[]>> = {
  arithmetic: ["rowsPerSubgroup", "keysPerLane", "masking", "vector", "unroll"],
  "special functions": ["rowLanes", "rowsPerSubgroup", "keysPerLane"],
  "instruction issue": ["rowsPerSubgroup", "rowLanes", "keysPerLane", "vector", "masking", "exchange"],
  shuffles: ["exchange", "rowLanes", "keysPerLane", "rowsPerSubgroup"],
  "shared memory": ["rowLanes", "rowsPerSubgroup", "keysPerLane", "layout", "vector", "exchange"],
  "first-level cache": ["stage", "queryRows", "vector"],
  "second-level cache": ["stage", "queryRows", "rowsPerSubgroup", "heads"],
  "device memory": ["stage", "queryRows", "heads"],
  latency: ["pipeline", "depth", "queryRows", "unroll", "keyRows", "schedule"],
};

class OpenAttention implements OpenStudy<FlashPoint, AttentionCaseShape> {
  readonly space: OpenStudy<FlashPoint>["space"];
  readonly baseline: FlashPoint;
  readonly named: Readonly<Record<string, FlashPoint>>;
  readonly inputTitle: string;
  readonly profile: string;
  readonly predict?: (point: FlashPoint) => Promise<number | null>;
  readonly #input: OpenedInput;
  readonly #machine: MachineProfile;
  readonly #target: Target;

  constructor(input: OpenedInput, machine: MachineProfile, target: Target) {
    this.#input = input;
    this.#machine = machine;
    this.#target = target;
    const { problem } = input;
    const { id, subgroupSize } = target;
    const limits =
      target.limits === null ? DEFAULT_LIMITS : limitsOf({ id, subgroupSize, limits: target.limits });
    this.space = { axes, whyInvalid: (point) => checkPoint(point, problem, subgroupSize, limits) };
    this.named = rungPoints(problem, subgroupSize, limits);
    this.baseline = this.named["k01"] as FlashPoint;
    this.inputTitle = input.title;
    this.profile = timesFrom(target, machine);
    if (target.clocked && canExtrapolate(problem)) {
      const predictor = new TimePredictor(openSim({ subgroup: subgroupSize, checks: false }));
      this.predict = orNull(async (point) => (await predictor.predict(point, problem)).model(machine).timeMs);
    }
  }

  cases(seed: number): readonly Case<AttentionCaseShape>[] {
    return attentionCases(this.#input, seed);
  }

  objectiveCase(seed: number): Case<AttentionCaseShape> {
    return objectiveCase(this.#input, seed);
  }

  plan(point: FlashPoint, shape: AttentionCaseShape, build: PlanBuild) {
    return this.#planOf(point, parseShape(shape), build);
  }

  /** Persistent workgroups are as many as the device holds, or where it does not say, the machine of the profile. */
  #planOf(point: FlashPoint, problem: AttentionProblem, build: PlanBuild): Plan {
    const machine = this.#target.machine ?? factsOf(this.#machine);
    return attentionPlan(point, problem, { ...build, machine });
  }

  expected(input: Case<AttentionCaseShape>) {
    return expectedOf(input);
  }

  measure(context: MeasureContext): Promise<Measurement> {
    const { seed, point = null } = context;
    const { problem } = this.#input;
    const machine = this.#machine;
    const inputs = () => this.objectiveCase(seed).inputs;
    return measureCandidate(context, {
      target: this.#target,
      machine,
      inputs,
      count: (bound) =>
        point === null
          ? countModuleCandidate(bound, machine, workOf(problem), seed)
          : countAttention(bound, { problem, machine, seed, inputs }),
    });
  }

  explain(measurement: Measurement, point: FlashPoint | null): Explanation {
    const { batch, headsQ, headsKv, seqQ, seqK, dim } = this.#input.problem.shape;
    const bytes = 4 * batch * dim * (headsQ * seqQ + 2 * headsKv * seqK);
    return explainModelled(measurement, {
      machine: this.#machine,
      remedies: REMEDIES,
      compulsoryRead: { bytes, of: "q, k and v" },
      description: point === null ? null : describePoint(point),
    });
  }

  describe(point: FlashPoint): string {
    return describePoint(point);
  }

  emit(point: FlashPoint, build: PlanBuild): readonly SourceFile[] {
    const { problem } = this.#input;
    return candidateSources({
      point,
      build,
      planFor: (own) => this.#planOf(point, problem, own),
      fits: (target) => checkPoint(point, problem, build.subgroup, targetLimits(target)) === null,
    });
  }
}

/** The study of attention, for the lab. */
export const study: Study<FlashPoint, AttentionCaseShape> = {
  id: "attention",
  title: "Flash attention, forward, f32",
  module: import.meta.url,
  export: "study",
  options: attentionOptions,
  parseInput: async (options) => ({
    ...(await parseAttentionInput(options)),
    ...(await parseMachine(options)),
  }),
  open: async (input, { id }) => {
    const opened = await openAttentionInput(input as unknown as AttentionInput);
    const machine = await openMachine(input);
    return new OpenAttention(opened, machine, await targetOf(id));
  },
  ladder: { rungs: ladder, named: namedRungs, run: attentionLadder },
  // Most of those who open the study write no guide.
  guide: async (options) => (await import("./guide/index.ts")).attentionGuide(options),
  kernel: attentionKernel,
  evidence: attentionCommands,
};
