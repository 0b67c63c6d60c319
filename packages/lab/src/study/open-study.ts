/**
 * A study opened on one input and one device: a space of candidates, the cases and the float64 truth that they are
 * verified against, and the objective that they are compared by. The judge and the cycles use only this interface.
 *
 * All code of a study is trusted, since the judge runs it. Candidates give it only data (a `Plan`).
 */

import type { Plan, PlanBuild } from "@evolver/device";
import type { Case, Expected, Shape } from "./case.ts";
import type { Explanation, Measurement, MeasureContext } from "./measurement.ts";
import type { Point, Space } from "./point.ts";
import type { Roof } from "./roof.ts";

/** A file that goes into the workspace. */
export interface SourceFile {
  /** Relative, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** A study opened on one input and device. */
export interface OpenStudy<P extends Point = Point, S extends Shape = Shape> {
  readonly space: Space<P>;
  readonly baseline: P;
  /** Points with a name, such as the rungs of a ladder. */
  readonly named: Readonly<Record<string, P>>;
  /** Points that the study's author thinks well of: they are tried before any other, in this order. */
  readonly hints?: readonly P[];
  /** What is optimised, for people: "B1 Hq32 Hkv8 S256 D128, causal". */
  readonly inputTitle: string;
  /** What the times stand on: the machine profile's name, or "wall clock". */
  readonly profile: string;
  /** The least time that the problem takes on the machine that times are of, or modelled for; absent where that is not known. */
  readonly roof?: Roof;
  /** Cases to verify on, fresh for each seed, with the objective's own input among them. */
  cases(seed: number): readonly Case<S>[];
  /** The case that is timed. */
  objectiveCase(seed: number): Case<S>;
  /** The candidate of a point of the space, built for the device that times it. Throws if it can't be built. */
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
  predict?(point: P): Promise<number | null>;
  /** One line for people. */
  describe(point: P): string;
  /** The candidate's source, as kept in the workspace. */
  emit(point: P, build: PlanBuild): Promise<readonly SourceFile[]> | readonly SourceFile[];
}
