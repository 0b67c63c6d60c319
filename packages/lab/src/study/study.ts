/**
 * What a study is: a space of candidates, the cases and the float64 truth that they are verified against, and the
 * objective that they are compared by. Generic over kernels; a study of a certain kernel is written elsewhere.
 *
 * All code of a study is trusted: the judge runs it. What it is given by candidates is data (a `Plan`).
 */

import type { AnyTypedArray, Counters, Device, RunResult } from "@evolver/device";
import type { BuildOptions, ElementType } from "@evolver/kernel";
import type { Json } from "../json.ts";
import type { Plan } from "../plan.ts";

/** One value for each axis of the space. */
export type Point = Readonly<Record<string, number | string>>;

/** A named choice. The values are ordered: neighbours in the list are small steps. */
export interface Axis {
  readonly name: string;
  readonly values: readonly (number | string)[];
}

export interface Space<P extends Point = Point> {
  readonly axes: readonly Axis[];
  /** Why the point can't be built, in one sentence; null if it can. Cheap: called for thousands of points. */
  whyInvalid(point: P): string | null;
}

/** What a plan may know of a case: sizes and options, never data. */
export type Shape = Json;

export interface Case<S extends Shape = Shape> {
  /** Names the case for people and, with the seed, makes it again: "random 17×33". */
  readonly id: string;
  /** `random` cases are typical data, on which trivial answers must fail; `hostile` ones probe an edge. */
  readonly kind: "random" | "hostile";
  readonly seed: number;
  readonly shape: S;
  readonly inputs: Readonly<Record<string, AnyTypedArray>>;
  readonly outputs: Readonly<Record<string, { readonly element: ElementType; readonly length: number }>>;
  /** Run it on the simulator with every check (small cases), or only on the fast device (large ones). */
  readonly checks: "full" | "fast";
}

/** The truth about one output, as only the judge knows it. */
export interface Expected {
  /** Float64; ±∞ must be met exactly, and NaN is not allowed. */
  readonly values: Float64Array;
  /** The largest absolute error that passes, for all elements or for each. */
  readonly bound: number | Float64Array;
  /**
   * Where the whole truth would take too long: which elements of `values` it is known for. Chosen by the case's seed,
   * which no candidate knows. The others are compared with what the baseline gives, within a few times the bound.
   */
  readonly known?: Uint8Array;
}

export type TimeKind = "modelled" | "measured";

export interface Measurement {
  readonly timeMs: number;
  readonly timeKind: TimeKind;
  /** Relative standard error of `timeMs`; 0 if modelled. */
  readonly noise: number;
  /** The champion's time in the same session, interleaved; null if modelled. */
  readonly championTimeMs: number | null;
  readonly counters: Counters | null;
  /** How the number came about (parts of the model, workgroups sampled), for the record. */
  readonly details?: { readonly [key: string]: Json | undefined };
}

/** A plan bound to buffers that hold the objective's input; each `run` is one execution of all its launches. */
export interface BoundPlan {
  readonly plan: Plan;
  readonly device: Device;
  /** @param sample on `sim`: for a launch, the workgroups to run (linear indices); null for all */
  run(sample?: (launch: number) => readonly number[] | null): Promise<readonly RunResult[]>;
  /**
   * Enqueues all launches once and does not wait, for timing many executions at a stretch; null where the device has
   * no clock of its own or something must be done between launches.
   */
  readonly enqueue: (() => void) | null;
}

export interface MeasureContext {
  readonly candidate: BoundPlan;
  /** Present if time is measured and there is a champion. */
  readonly champion: BoundPlan | null;
  /**
   * The point that the study made the candidate's plan of. Absent or null for any other plan, whose arguments, workgroups
   * and names claim what they like.
   */
  readonly point?: Point | null;
  /** For choices that a candidate must not foresee, such as which workgroups to sample. */
  readonly seed: number;
}

/** What the numbers of a candidate say, for people and for the next choice. */
export interface Explanation {
  /** A few words: "global memory", "shared-memory bank conflicts". */
  readonly bottleneck: string;
  readonly observations: readonly string[];
  /** Axes whose change could help, the most promising first. */
  readonly axes: readonly string[];
}

export interface SourceFile {
  /** Relative, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** What kernels of a plan are built for: those of the device that times them. */
export type PlanBuild = Required<BuildOptions>;

/** A study opened on one input and device. */
export interface Study<P extends Point = Point, S extends Shape = Shape> {
  readonly space: Space<P>;
  readonly baseline: P;
  /** Points with a name, such as the rungs of a ladder. */
  readonly named: Readonly<Record<string, P>>;
  /** What is optimised, for people: "B1 Hq32 Hkv8 S256 D128, causal". */
  readonly inputTitle: string;
  /** What the times stand on: the machine profile's name, or "wall clock". */
  readonly profile: string;
  /** Cases to verify on, fresh for each seed, with the objective's own input among them. */
  cases(seed: number): readonly Case<S>[];
  /** The case that is timed. */
  objectiveCase(seed: number): Case<S>;
  /** The candidate of a point of the space. Throws if it can't be built. */
  plan(point: P, shape: S, build: PlanBuild): Plan;
  /** Truth and tolerance for each output. Called in the judge only. */
  expected(input: Case<S>): Readonly<Record<string, Expected>>;
  measure(context: MeasureContext): Promise<Measurement>;
  /** @param point null for a candidate that is none of the space */
  explain(measurement: Measurement, point: P | null): Explanation;
  /**
   * A quick guess of the time that measuring the point would give, in milliseconds, by a model; null where it has none.
   * Absent where there is nothing to guess, because times are the model's. It orders candidates and decides nothing.
   */
  readonly predict?: (point: P) => Promise<number | null>;
  /** One line for people. */
  describe(point: P): string;
  /** The candidate's source, as kept in the workspace. */
  emit(point: P, build: PlanBuild): Promise<readonly SourceFile[]> | readonly SourceFile[];
}

/** Options of a study as the user gave them, as data: the judge opens the study again from them. */
export type StudyInput = { readonly [key: string]: Json | undefined };

export interface StudyDefinition<P extends Point = Point, S extends Shape = Shape> {
  readonly id: string;
  readonly title: string;
  /** The module that exports this definition as `export`; `import.meta.url` of it. */
  readonly module: string;
  readonly export: string;
  readonly defaultInput: StudyInput;
  /**
   * Checks the options and gives them in full and normalised, with paths absolute.
   * @throws EvolverError if they are wrong
   */
  parseInput(options: StudyInput): Promise<StudyInput>;
  open(input: StudyInput, device: { readonly id: string }): Promise<Study<P, S>>;
}
