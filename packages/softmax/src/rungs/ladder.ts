/** The ladder: named points of the space, each with claims that the simulator's counters prove. */

import {
  buildOf,
  checkRung,
  countForClaims,
  withVariants,
  type ClaimResult,
  type Counters,
  type Device,
  type RungName,
} from "@evolver/device";
import { rowPlan } from "../plan.ts";
import type { RowPoint } from "../point.ts";
import type { RowProblem } from "../problem.ts";
import type { RowRung } from "./rung.ts";
import { s01 } from "./s01-naive.ts";
import { s02 } from "./s02-subgroup-per-row.ts";
import { s03 } from "./s03-in-registers.ts";

/** In order; each builds on those before. */
export const ladder: readonly RowRung[] = Object.freeze([s01, s02, s03]);

/** The rungs and, after each, its variants, such as "s02 online". */
export const namedRungs: readonly (RowRung & RungName)[] = withVariants(ladder);

/** What claims are proved on. */
export const claimProblem: RowProblem = Object.freeze({ operation: "softmax", rows: 64, columns: 256 });

/**
 * Checks the claims of a rung, counting it and those earlier rungs that it compares itself with.
 *
 * @param device one that counts (`sim`), with subgroups of CLAIM_SUBGROUP
 * @throws EvolverError CLAIMS_NEED_COUNTERS on any other device
 */
export const runClaims = (device: Device, rung: RowRung): Promise<ClaimResult[]> =>
  checkRung(ladder, rung, (point) => claimCounters(device, point));

/** What a point does on the problem of the claims. @throws EvolverError CLAIMS_NEED_COUNTERS */
export const claimCounters = (device: Device, point: RowPoint): Promise<Counters> =>
  countForClaims(device, rowPlan(point, claimProblem, buildOf(device)));
