/** Rungs as points of the space for a given problem, and points in words. */

import {
  fitPoint,
  ladder,
  type AttentionProblem,
  type FlashPoint,
  type WorkgroupLimits,
} from "@evolver/attention";

/** The rungs' points by id, with tiles that fit the problem. */
export function rungPoints(
  problem: AttentionProblem,
  subgroup: number,
  limits: WorkgroupLimits,
): Readonly<Record<string, FlashPoint>> {
  return Object.fromEntries(ladder.map(({ id, point }) => [id, fitPoint(point, problem, subgroup, limits)]));
}

/** "shared 64×128, 4 rows a subgroup, 2 keys a lane, swizzled, vector 4, shuffle, persistent, packed heads". */
export function describePoint(point: FlashPoint): string {
  const { stage, queryRows, keyRows, rowsPerSubgroup, keysPerLane, layout, vector, exchange } = point;
  const rows = `${rowsPerSubgroup} row${rowsPerSubgroup === 1 ? "" : "s"} a subgroup`;
  const keys = `${keysPerLane} key${keysPerLane === 1 ? "" : "s"} a lane`;
  const where =
    stage === "global"
      ? `global, ${queryRows} row${queryRows === 1 ? "" : "s"}`
      : `shared ${queryRows}×${keyRows}, ${layout}`;
  const schedule = point.schedule === "persistent" ? ", persistent" : "";
  const heads = point.heads === "packed" ? ", packed heads" : "";
  return `${where}, ${rows}, ${keys}, vector ${vector}, ${exchange}${schedule}${heads}`;
}
