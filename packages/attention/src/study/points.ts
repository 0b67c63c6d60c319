/** The rungs as points of the space for a given problem, and descriptions of points for people. */

import {
  fitPoint,
  namedRungs,
  type AttentionProblem,
  type FlashPoint,
  type WorkgroupLimits,
} from "@evolver/attention";
import { EvolverError } from "@evolver/base";

/** The rungs' points and their variants', by id, with tiles made to fit the problem. Those that cannot be made to fit are left out. */
export function rungPoints(
  problem: AttentionProblem,
  subgroup: number,
  limits: WorkgroupLimits,
): Readonly<Record<string, FlashPoint>> {
  return Object.fromEntries(
    namedRungs.flatMap(({ id, point }): [string, FlashPoint][] => {
      const fitted = fitOrNull(point, problem, subgroup, limits);
      return fitted === null ? [] : [[id, fitted]];
    }),
  );
}

/** The point made to fit, or null where it cannot be. */
export function fitOrNull(
  point: FlashPoint,
  problem: AttentionProblem,
  subgroup: number,
  limits?: WorkgroupLimits,
): FlashPoint | null {
  try {
    return fitPoint(point, problem, subgroup, limits);
  } catch (error) {
    if (error instanceof EvolverError && error.code === "INVALID_POINT") return null;
    throw error;
  }
}

const PIPELINES: Readonly<Record<FlashPoint["pipeline"], string>> = {
  synchronous: "",
  "double-buffered": ", double-buffered",
  ring: ", ring of ",
  roles: ", roles with a ring of ",
  staggered: ", staggered",
};

/**
 * A point in one line: "shared 128×64, padded, staggered, 32 rows per subgroup on 4 groups of lanes, 8 keys per lane, unroll 8,
 * shared, masked at edges, persistent, packed heads". The values that most rungs have are left out: vector 4, unroll 4,
 * masked everywhere, one workgroup per tile, heads by index.
 */
export function describePoint(point: FlashPoint): string {
  const { stage, queryRows, keyRows, layout, pipeline, rowLanes, depth } = point;
  const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;
  const deep = pipeline === "ring" || pipeline === "roles" ? depth : "";
  return [
    stage === "global"
      ? `global, ${count(queryRows, "row")}`
      : `shared ${queryRows}×${keyRows}, ${layout}${PIPELINES[pipeline]}${deep}`,
    `${count(point.rowsPerSubgroup, "row")} per subgroup${rowLanes === 1 ? "" : ` on ${rowLanes} groups of lanes`}`,
    `${count(point.keysPerLane, "key")} per lane`,
    ...(point.vector === 4 ? [] : [`vector ${point.vector}`]),
    ...(point.unroll === 4 ? [] : [`unroll ${point.unroll}`]),
    point.exchange,
    ...(point.masking === "at edges" ? ["masked at edges"] : []),
    ...(point.schedule === "persistent" ? ["persistent"] : []),
    ...(point.heads === "packed" ? ["packed heads"] : []),
  ].join(", ");
}
