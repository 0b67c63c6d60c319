/** A tunable plan opened as a study: its choices are the space, its reference is the truth, its roofline the goal. */

import {
  baselineOf,
  openSim,
  workgroupCount,
  type Device,
  type DeviceBuffer,
  type Plan,
  type PlanBuild,
  type Problem,
  type RunnablePlan,
  type Tunable,
} from "@evolver/device";
import { EvolverError, grouped } from "@evolver/base";
import { MAX_BUFFER_LENGTH } from "../judge/candidate-plan.ts";
import { elementBytes, emitTargets, sharedMemoryBytes, type EmitTarget } from "@evolver/kernel";
import type { MachineProfile } from "@evolver/machine";
import type { Case, Expected } from "../study/case.ts";
import type { Explanation, Measurement, MeasureContext } from "../study/measurement.ts";
import { orNull, type Inputs } from "../study/measure.ts";
import { modelledMeasurement, TIMES_MOVED } from "../study/modelled.ts";
import { countModuleCandidate } from "../study/module-candidate.ts";
import type { OpenStudy } from "../study/open-study.ts";
import type { Point, Space } from "../study/point.ts";
import { roofOf, shareOfRoof, type Roof } from "../study/roof.ts";
import { candidateSources } from "../study/sources.ts";
import { pointKey } from "../study/space.ts";
import { countStaged } from "../study/staged.ts";
import { timesFrom, type Target } from "../study/target.ts";
import { measureWallClock } from "../study/wall-clock.ts";
import {
  casesOf,
  costOf,
  mediumCaseOf,
  objectiveCaseOf,
  planOf,
  type TunableObjective,
  type TunableShape,
} from "./cases.ts";
import { canJudge, truthOf } from "./truth.ts";

export interface TunableParts {
  readonly tunable: Tunable;
  readonly sizes: Problem["sizes"];
  readonly target: Target;
  readonly machine: MachineProfile;
  /** Whether the machine's numbers are the target's. */
  readonly machineKnown: boolean;
}

/** Operations that the reference is given for one case: about a second. Beyond, the baseline's answer counts. */
const REFERENCE = 2 ** 24;
/** Operations that the simulator is given to count a plan, and for a prediction. */
const COUNTED = 2 ** 21;
const PREDICTED = 2 ** 19;
const SMALLEST_SAMPLE = 4;
/** The most that an answer may differ from the baseline's, of its largest magnitude: half precision does not pass. */
const LARGEST_RELATIVE = 2 ** -12;

export class OpenTunable implements OpenStudy<Point, TunableShape> {
  readonly space: Space;
  readonly baseline: Point;
  readonly named: Readonly<Record<string, Point>>;
  readonly hints: readonly Point[];
  readonly inputTitle: string;
  readonly profile: string;
  readonly roof?: Roof;
  readonly predict?: (point: Point) => Promise<number | null>;
  readonly #parts: TunableParts;
  readonly #objective: TunableObjective;
  readonly #reasons = new Map<string, string | null>();
  #relative: Readonly<Record<string, number>> | null = null;
  #counting: Counting | null = null;

  /** @throws EvolverError BASELINE_INVALID, DATA_INVALID, REFERENCE_INVALID, and what the author's code throws */
  constructor(parts: TunableParts) {
    const { tunable, sizes, target, machine } = parts;
    this.#parts = parts;
    const build = { subgroup: target.subgroupSize, forwardProgress: target.forwardProgress };
    this.#objective = { tunable, sizes, build };
    const axes = Object.entries(tunable.tune).map(([name, values]) => ({ name, values }));
    this.space = { axes, whyInvalid: (point) => this.#whyInvalid(point) };
    this.baseline = baselineOf(tunable);
    this.named = { baseline: this.baseline, ...tunable.variants };
    this.hints = Object.values(tunable.variants);
    this.inputTitle = titleOf(sizes);
    this.profile = timesFrom(target, machine);
    this.#check();
    const plan = planOf(this.#objective, this.#problem());
    const flops = tunable.work(sizes).flops ?? 0;
    const bytes = tunable.work(sizes).bytes ?? movedBytes(plan);
    if (parts.machineKnown) this.roof = roofOf(machine, { bytes, flops });
    if (target.clocked && plan.launches.length === 1) this.predict = orNull((point) => this.#predict(point));
  }

  cases(seed: number): readonly Case<TunableShape>[] {
    return casesOf(this.#objective, seed);
  }

  objectiveCase(seed: number): Case<TunableShape> {
    return objectiveCaseOf(this.#objective, seed);
  }

  plan(point: Point, shape: TunableShape, build: PlanBuild): Plan {
    return this.#parts.tunable.plan(shape, point, build);
  }

  expected(input: Case<TunableShape>): Readonly<Record<string, Expected>> {
    if (costOf(this.#objective, input.shape) > REFERENCE) return this.#trusted(input);
    return this.#truth(input);
  }

  async measure(context: MeasureContext): Promise<Measurement> {
    const { target, machine } = this.#parts;
    const isMade = context.point !== undefined && context.point !== null;
    const { plan } = context.candidate;
    if (!target.measured) return modelledMeasurement(await this.#count(context, isMade), machine);
    const measured = await measureWallClock(context);
    // Launches before the last have to be run whole to count the last, which takes long where they are large.
    const isLong = plan.launches.length > 1 && costOf(this.#objective, this.#problem()) > REFERENCE;
    if (!isMade || isLong) return measured;
    const { counters, details } = modelledMeasurement(await this.#count(context, isMade), machine);
    return { ...measured, counters, details: { ...measured.details, ...details } };
  }

  explain(measurement: Measurement, point: Point | null): Explanation {
    const { machine } = this.#parts;
    const { details = {}, counters, timeMs } = measurement;
    const observations: string[] = [];
    if (this.roof !== undefined)
      observations.push(`It is at ${shareOfRoof(this.roof, timeMs, machine.name)}.`);
    const terms = Object.entries((details["terms"] ?? {}) as Record<string, number>);
    const bottleneck = typeof details["bottleneck"] === "string" ? details["bottleneck"] : "unknown";
    if (terms.length > 0) {
      const largest = terms[0]?.[1] ?? 1;
      const shares = terms.slice(0, 3).map(([name, own]) => `${name} ${Math.round((100 * own) / largest)} %`);
      observations.push(`On ${machine.name}, modelled, ${bottleneck} decides (${shares.join(", ")}).`);
    }
    if (counters !== null)
      observations.push(...countersInWords(counters, movedBytes(planOf(this.#objective, this.#problem()))));
    if (point === null) observations.push("A kernel that is not a point of the space.");
    return { bottleneck, observations, axes: [] };
  }

  describe(point: Point): string {
    const choices = Object.entries(point).map(([name, value]) => `${name} ${value}`);
    return choices.join(", ") || "the kernel as it is";
  }

  emit(point: Point, build: PlanBuild) {
    const problem = this.#problem();
    const planFor = (own: PlanBuild): Plan => this.#parts.tunable.plan(problem, point, own);
    return candidateSources({
      point,
      build,
      planFor,
      fits: (target: EmitTarget) => {
        const { invocations, sharedBytes } = emitTargets[target].workgroup;
        try {
          const { forwardProgress } = emitTargets[target];
          const own = planFor({ subgroup: build.subgroup, forwardProgress });
          return whyTooLarge(own, { invocations, sharedBytes, workgroups: Infinity }) === null;
        } catch {
          return false;
        }
      },
    });
  }

  #problem(): Problem {
    return objectiveProblem(this.#objective);
  }

  /** The baseline and the data of the smallest random case, before anything is made. */
  #check(): void {
    const { tunable, sizes, build } = this.#objective;
    const long = planOf(this.#objective, this.#problem()).buffers.find(
      ({ length }) => length > MAX_BUFFER_LENGTH,
    );
    if (long !== undefined)
      throw new EvolverError(
        "INVALID_SIZE",
        `with ${titleOf(sizes)} the buffer "${long.name}" would have ${grouped(long.length)} elements, and ${grouped(MAX_BUFFER_LENGTH)} are the most`,
        { where: [tunable.site.location], hint: "choose smaller sizes" },
      );
    const [first] = casesOf({ tunable, sizes, build }, 1);
    const why = this.#whyInvalid(this.baseline);
    const where = [tunable.site.location];
    if (why !== null)
      throw new EvolverError(
        "BASELINE_INVALID",
        `"${tunable.name}" cannot be built with its first choices: ${why}`,
        {
          where,
          hint: "put values that work on every size first in `tune`",
        },
      );
    if (first === undefined) return;
    const plan = planOf(this.#objective, first.shape);
    if (canJudge({ tunable, problem: first.shape, plan, inputs: first.inputs, seed: 1 })) return;
    throw new EvolverError(
      "DATA_INVALID",
      `on made-up data (${first.id}) the reference of "${tunable.name}" gives a NaN, or more than f32 holds`,
      { where, hint: "say what its inputs hold: x: { length: n, min: 0, max: 1 }" },
    );
  }

  #whyInvalid(point: Point): string | null {
    const key = pointKey(this.space, point);
    let why = this.#reasons.get(key);
    if (why === undefined) this.#reasons.set(key, (why = this.#build(point)));
    return why;
  }

  #build(point: Point): string | null {
    const { tunable, build } = this.#objective;
    const { limits } = this.#parts.target;
    const given =
      limits === null
        ? { ...emitTargets.cuda.workgroup, workgroups: Infinity }
        : {
            invocations: limits.maxInvocationsPerWorkgroup,
            sharedBytes: limits.maxSharedBytes,
            workgroups: limits.maxWorkgroups,
          };
    try {
      return whyTooLarge(tunable.plan(this.#problem(), point, build), given);
    } catch (error) {
      const what =
        error instanceof EvolverError ? error.what : error instanceof Error ? error.message : String(error);
      return `It cannot be built: ${what}`;
    }
  }

  #truth(input: Case<TunableShape>) {
    const { tunable } = this.#parts;
    const plan = planOf(this.#objective, input.shape);
    return truthOf({ tunable, problem: input.shape, plan, inputs: input.inputs, seed: input.seed });
  }

  /** The baseline's answer counts, to within what a case of moderate sizes allows, and more for longer sums. */
  #trusted({ shape, outputs }: Case<TunableShape>): Readonly<Record<string, Expected>> {
    const relative = (this.#relative ??= this.#relativeBounds(shape));
    return Object.fromEntries(
      Object.entries(outputs).map(([name, { length }]) => [
        name,
        { trusted: "baseline", length, relative: relative[name] ?? 0 },
      ]),
    );
  }

  #relativeBounds(shape: TunableShape): Readonly<Record<string, number>> {
    const medium = mediumCaseOf(this.#objective, 1);
    const growth = Math.sqrt(costOf(this.#objective, shape) / costOf(this.#objective, medium.shape));
    const bounds = Object.entries(this.#truth(medium)).map(([name, { values, bound }]) => {
      const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      const relative = largest === 0 || typeof bound !== "number" ? 0 : (2 * growth * bound) / largest;
      return [name, Math.min(LARGEST_RELATIVE, relative)] as const;
    });
    return Object.fromEntries(bounds);
  }

  #count({ candidate, seed }: MeasureContext, isMade: boolean) {
    const { machine } = this.#parts;
    if (isMade) return this.#staged(candidate, COUNTED);
    const work = { operations: costOf(this.#objective, this.#problem()), flops: 0 };
    return countModuleCandidate(candidate, machine, work, seed);
  }

  async #staged({ plan }: Pick<RunnablePlan, "plan">, operations: number) {
    const { machine } = this.#parts;
    const { sim, inputs, buffers } = (this.#counting ??= this.#openCounting());
    const workgroups = plan.launches.reduce((most, launch) => Math.max(most, workgroupCount(launch)), 1);
    const each = costOf(this.#objective, this.#problem()) / workgroups;
    const most = Math.max(SMALLEST_SAMPLE, Math.floor(operations / each));
    return countStaged(plan, { machine, sim, inputs, buffers, most });
  }

  /** A simulator that keeps the objective's inputs, which may be large, for all plans that are counted. */
  #openCounting(): Counting {
    const sim = openSim({ subgroup: this.#parts.target.subgroupSize, checks: false });
    const { inputs } = this.objectiveCase(0);
    const { buffers } = planOf(this.#objective, this.#problem());
    const kept = buffers.flatMap(({ name, role, element }) => {
      const contents = inputs[name];
      // What is changed in place is given afresh to each plan.
      return role !== "input" || contents === undefined
        ? []
        : [[name, sim.createBuffer(element, contents as Float32Array<ArrayBuffer>)] as const];
    });
    return { sim, inputs, buffers: Object.fromEntries(kept) };
  }

  async #predict(point: Point): Promise<number> {
    const plan = this.#parts.tunable.plan(this.#problem(), point, this.#objective.build);
    return (await this.#staged({ plan }, PREDICTED)).modelled.timeMs;
  }
}

interface Counting {
  readonly sim: Device;
  readonly inputs: Inputs;
  readonly buffers: Readonly<Record<string, DeviceBuffer>>;
}

function objectiveProblem({ tunable, sizes }: TunableObjective): Problem {
  const all = Object.entries(tunable.scalars(sizes));
  return { sizes, scalars: Object.fromEntries(all.map(([name, values]) => [name, values[0] ?? 0])) };
}

/** "m 1024, n 1024, k 1024" */
const titleOf = (sizes: Problem["sizes"]): string =>
  Object.entries(sizes)
    .map(([size, value]) => `${size} ${value}`)
    .join(", ") || "its example";

/** The least bytes that any plan for the buffers moves. */
const movedBytes = ({ buffers }: Plan): number =>
  buffers.reduce(
    (sum, { role, element, length }) => sum + TIMES_MOVED[role] * length * elementBytes(element),
    0,
  );

interface Room {
  readonly invocations: number;
  readonly sharedBytes: number;
  readonly workgroups: number;
}

function whyTooLarge({ kernels, launches }: Plan, room: Room): string | null {
  for (const {
    name,
    workgroupSize: [x, y, z],
    shared,
  } of kernels) {
    if (x * y * z > room.invocations)
      return `A workgroup of ${name} has ${x * y * z} invocations, more than ${room.invocations}.`;
    const bytes = shared.reduce((sum, memory) => sum + sharedMemoryBytes(memory), 0);
    if (bytes > room.sharedBytes)
      return `A workgroup of ${name} takes ${bytes} bytes of shared memory, more than ${room.sharedBytes}.`;
  }
  const most = launches.reduce((sum, launch) => Math.max(sum, workgroupCount(launch)), 0);
  return most > room.workgroups ? `There would be ${most} workgroups, more than ${room.workgroups}.` : null;
}

/** What the simulator counted that says something about the kernel. */
function countersInWords(
  {
    sharedConflicts,
    sharedPasses,
    globalReadBytes,
    globalWriteBytes,
    globalSectors,
  }: NonNullable<Measurement["counters"]>,
  leastBytes: number,
): string[] {
  const words: string[] = [];
  const bytes = globalReadBytes + globalWriteBytes;
  if (leastBytes > 0)
    words.push(
      `It asks for ${(bytes / leastBytes).toPrecision(3)} times the bytes of its inputs and outputs.`,
    );
  if (globalSectors > 0 && bytes < 0.9 * 32 * globalSectors)
    words.push(
      `Of each 32-byte sector that it touches, it uses ${(bytes / globalSectors).toPrecision(3)} bytes.`,
    );
  if (sharedConflicts > 0)
    words.push(
      `${Math.round((100 * sharedConflicts) / sharedPasses)} % of the passes over shared memory are bank conflicts.`,
    );
  return words;
}
