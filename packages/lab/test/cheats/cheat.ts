/** What each file here exports: `plan`, the cheat; `honest`, its twin; and `expectation`, how it must be caught. */

import type { Json } from "@evolver/base";
import type { Plan } from "@evolver/device";
import type { VerdictStatus } from "@evolver/lab";

export type PlanFunction = (shape: Json, build: { readonly subgroup: number }) => Plan;

export interface Expectation {
  readonly status: VerdictStatus;
  /** The stated reason. */
  readonly reason: RegExp;
}
