/** How a candidate is compared with others: what is run, the result, and its explanation. */

import type { Counters, RunnablePlan } from "@evolver/device";
import type { Json } from "@evolver/base";
import * as v from "valibot";
import type { Point } from "./point.ts";

/** The schema of `TimeKind`. */
export const timeKindSchema = v.picklist(["modelled", "measured"]);

/** Whether times come from a clock or from the cost model. The two are never compared. */
export type TimeKind = v.InferOutput<typeof timeKindSchema>;

/** What measuring a candidate gives. */
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

/** What a study measures. */
export interface MeasureContext {
  /** On buffers that hold the objective's input. */
  readonly candidate: RunnablePlan;
  /** Present if time is measured and there is a champion. */
  readonly champion: RunnablePlan | null;
  /**
   * The point from which the study made the candidate's plan. Absent or null for any other plan, whose arguments, workgroups
   * and names are not to be trusted.
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
