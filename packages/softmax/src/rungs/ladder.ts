/** The ladder: named points of the space, each with claims that the simulator's counters prove. */

import { EvolverError } from "@evolver/base";
import {
  bindPlan,
  buildOf,
  checkClaims,
  type ClaimResult,
  type Counters,
  type Device,
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

/** Claims are about subgroups of this width: how lanes share a sector depends on it. */
export const CLAIM_SUBGROUP = 32;

/** What claims are proved on. */
export const claimProblem: RowProblem = Object.freeze({ operation: "softmax", rows: 64, columns: 256 });

/**
 * Checks the claims of a rung, counting it and those rungs that it compares itself with.
 *
 * @param device one that counts (`sim`), with subgroups of CLAIM_SUBGROUP
 * @throws EvolverError CLAIMS_NEED_COUNTERS on any other device
 */
export async function runClaims(device: Device, rung: RowRung): Promise<ClaimResult[]> {
  const points = new Map<string, RowPoint>();
  for (const { id, point, variants } of ladder) {
    points.set(id, point);
    for (const [name, variant] of Object.entries(variants)) points.set(`${id} ${name}`, variant);
  }
  return checkClaims(rung.claims, (name) => {
    const point = points.get(name);
    if (point !== undefined) return claimCounters(device, point);
    throw new EvolverError("UNKNOWN_RUNG", `a claim compares with "${name}", which is no rung`);
  });
}

/** What a point does on the problem of the claims. @throws EvolverError CLAIMS_NEED_COUNTERS */
export async function claimCounters(device: Device, point: RowPoint): Promise<Counters> {
  const { rows, columns } = claimProblem;
  // Counters do not depend on the numbers.
  const x = Float32Array.from({ length: rows * columns }, (_, i) => Math.sin(i));
  const bound = await bindPlan(device, rowPlan(point, claimProblem, buildOf(device)), { inputs: { x } });
  try {
    const [result] = await bound.run();
    if (result?.counters && device.subgroupSize === CLAIM_SUBGROUP) return result.counters;
  } finally {
    bound.destroy();
  }
  throw new EvolverError(
    "CLAIMS_NEED_COUNTERS",
    `claims are about counters at subgroup width ${CLAIM_SUBGROUP}, which ${device.name} does not give`,
    { hint: `check them on the simulator, opened with { subgroup: ${CLAIM_SUBGROUP} }` },
  );
}
