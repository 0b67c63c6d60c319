/** The attention study: the space of FlashPoint, verified against float64, compared by modelled time. */

import {
  attentionPlan,
  axes,
  checkPoint,
  DEFAULT_LIMITS,
  type FlashPoint,
  type AttentionProblem,
  type WorkgroupLimits,
  limitsOf,
  targetLimits,
  ladder,
} from "@evolver/attention";
import { factsOf, type MachineProfile, type TermName } from "@evolver/machine";
import {
  bindPlan,
  deviceRows,
  isClocked,
  isDeviceId,
  openDevice,
  openSim,
  type DeviceId,
  type MachineFacts,
  type Plan,
  type PlanBuild,
  type RunnablePlan,
} from "@evolver/device";
import { EvolverError } from "@evolver/base";
import { emit, print, emitTargetNames, emitTargets, type EmitTarget, type TargetRow } from "@evolver/kernel";
import { defaultMachine, measureWallClock, openMachine, parseMachine } from "@evolver/lab";
import type {
  Case,
  Explanation,
  Measurement,
  MeasureContext,
  SourceFile,
  OpenStudy,
  Study,
} from "@evolver/lab";
import { attentionCases, expectedOf, objectiveCase, type AttentionCaseShape } from "./cases.ts";
import { countPlan } from "./counters.ts";
import { canExtrapolate } from "./extrapolate.ts";
import { countForeign } from "./foreign.ts";
import {
  attentionOptions,
  openAttentionInput,
  parseAttentionInput,
  type AttentionInput,
  type OpenedInput,
} from "./input.ts";
import { attentionLadder } from "./ladder.ts";
import { describePoint, rungPoints } from "./points.ts";
import { Foresight } from "./predict.ts";
import { attentionKernel } from "./rung.ts";
import { parseShape } from "./shape.ts";

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

/** What candidates are built for, and whether their time there is measured. */
interface Target {
  readonly name: string;
  readonly subgroup: number;
  readonly limits: WorkgroupLimits;
  readonly measured: boolean;
  /** A GPU with a clock of its own, which the cost model is about. */
  readonly modelled: boolean;
  /** What the device's driver says of its machine, if anything. */
  readonly machine: MachineFacts | null;
}

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
    const { subgroup, limits } = target;
    this.space = { axes, whyInvalid: (point) => checkPoint(point, problem, subgroup, limits) };
    this.named = rungPoints(problem, subgroup, limits);
    this.baseline = this.named["k01"] as FlashPoint;
    this.inputTitle = input.title;
    this.profile = target.measured ? `${target.name}, device clock` : machine.name;
    if (target.modelled && canExtrapolate(problem)) this.predict = predictor(problem, machine, subgroup);
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

  /** Measured on a device with a clock, with the simulator's counters and the model's terms beside it to explain it. */
  async measure(context: MeasureContext): Promise<Measurement> {
    if (!this.#target.measured) return this.#model(context.candidate, context);
    const measured = await measureWallClock(context);
    const sim = await openDevice("sim", { subgroup: this.#target.subgroup });
    try {
      const { inputs } = this.objectiveCase(context.seed);
      const bound = await bindPlan(sim, context.candidate.plan, { inputs, fill: "nan" });
      const { counters, details } = await this.#model(bound, context);
      return { ...measured, counters, details: { ...measured.details, ...details } };
    } finally {
      await sim.close();
    }
  }

  async #model(bound: RunnablePlan, { point, seed }: MeasureContext): Promise<Measurement> {
    const { problem } = this.#input;
    const counted =
      point === undefined || point === null
        ? countForeign(bound, problem, this.#machine, seed)
        : countPlan(bound, () => this.objectiveCase(seed).inputs, problem, this.#machine, seed);
    const { counters, modelled, sampledTiles, tiles, workgroups } = await counted;
    return {
      timeMs: modelled.timeMs,
      timeKind: "modelled",
      noise: 0,
      championTimeMs: null,
      counters,
      details: {
        profile: this.#machine.name,
        bottleneck: modelled.bottleneck,
        terms: Object.fromEntries(modelled.terms.map(({ name, timeMs }) => [name, timeMs])),
        residentWorkgroups: modelled.residentWorkgroups,
        workgroups,
        tiles,
        sampledTiles,
      },
    };
  }

  explain(measurement: Measurement, point: FlashPoint): Explanation {
    const { details = {}, counters } = measurement;
    const bottleneck = details["bottleneck"] as TermName;
    const terms = Object.entries(details["terms"] as Record<string, number>);
    const shares = terms
      .slice(0, 3)
      .map(([name, timeMs]) => `${name} ${Math.round((100 * timeMs) / (terms[0]?.[1] ?? 1))} %`);
    const observations = [
      `On ${this.#machine.name}, modelled, ${bottleneck} decides (${shares.join(", ")}).`,
    ];
    if (counters !== null) {
      const { sharedConflicts, sharedPasses, globalReadBytes } = counters;
      if (sharedConflicts > 0)
        observations.push(
          `${Math.round((100 * sharedConflicts) / sharedPasses)} % of the passes over shared memory are bank conflicts.`,
        );
      const compulsory = this.#compulsoryReadBytes();
      observations.push(
        `It reads ${(globalReadBytes / compulsory).toPrecision(3)} times the bytes of q, k and v.`,
      );
    }
    const resident = Number(details["residentWorkgroups"]);
    observations.push(
      `${describePoint(point)}; ${resident === 1 ? "1 workgroup fits" : `${resident} workgroups fit`} on a multiprocessor.`,
    );
    return { bottleneck, observations, axes: REMEDIES[bottleneck] };
  }

  describe(point: FlashPoint): string {
    return describePoint(point);
  }

  emit(point: FlashPoint, build: PlanBuild): readonly SourceFile[] {
    const { subgroup } = build;
    const planFor = (forwardProgress: boolean) =>
      this.#planOf(point, this.#input.problem, { subgroup, forwardProgress });
    const { kernels, launches, buffers } = planFor(build.forwardProgress);
    const [ir] = kernels;
    if (ir === undefined) return [];
    const sourceFor = (target: EmitTarget): string =>
      emit(planFor(emitTargets[target].forwardProgress).kernels[0] ?? ir, target).source;
    const hasWidth = ({ subgroupSizes }: TargetRow): boolean => subgroupSizes?.includes(subgroup) ?? true;
    const targets = emitTargetNames.filter(
      (target) =>
        hasWidth(emitTargets[target]) &&
        checkPoint(point, this.#input.problem, subgroup, targetLimits(target)) === null,
    );
    return [
      ...targets.map((target) => ({
        path: `kernel.${emitTargets[target].extension}`,
        text: sourceFor(target),
      })),
      {
        path: "launch.json",
        text: `${JSON.stringify({ ...launches[0], kernel: ir.name, buffers }, null, 2)}\n`,
      },
      { path: "kernel.ir.txt", text: `${print(ir)}\n` },
      { path: "point.json", text: `${JSON.stringify(point, null, 2)}\n` },
    ];
  }

  #compulsoryReadBytes(): number {
    const { batch, headsQ, headsKv, seqQ, seqK, dim } = this.#input.problem.shape;
    return 4 * batch * dim * (headsQ * seqQ + 2 * headsKv * seqK);
  }
}

/** Points that do not run on the simulator are for the judge to see: of them it predicts nothing. */
function predictor(
  problem: AttentionProblem,
  machine: MachineProfile,
  subgroup: number,
): (point: FlashPoint) => Promise<number | null> {
  const foresight = new Foresight(openSim({ subgroup, checks: false }));
  return async (point) => {
    try {
      return (await foresight.foresee(point, problem)).model(machine).timeMs;
    } catch (error) {
      if (error instanceof EvolverError) return null;
      throw error;
    }
  };
}

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
  ladder: { rungs: ladder, run: attentionLadder },
  // Most of those who open the study write no guide.
  guide: async (options) => (await import("./guide/index.ts")).attentionGuide(options),
  kernel: attentionKernel,
};

/** Looks at the device once for its name, subgroup width, limits and machine. */
async function targetOf(id: string): Promise<Target> {
  if (isDeviceId(id) && !deviceRows[id].measures)
    return {
      name: id,
      subgroup: defaultMachine.subgroupSize,
      limits: DEFAULT_LIMITS,
      measured: false,
      modelled: false,
      machine: null,
    };
  const device = await openDevice(id as DeviceId);
  try {
    return {
      name: device.name,
      subgroup: device.subgroupSize,
      limits: limitsOf(device),
      measured: true,
      modelled: isClocked(device),
      machine: device.machine ?? null,
    };
  } finally {
    await device.close();
  }
}
