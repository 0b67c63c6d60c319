/** Which points can be built for a problem, why others cannot, and the nearest smaller point that can. */

import { assertNever, EvolverError } from "@evolver/base";
import { emitTargets } from "@evolver/kernel";
import type { AttentionProblem } from "../problem.ts";
import { geometryOf, keyLanesOf } from "./measure.ts";
import { pipelines } from "./axes/pipeline/index.ts";
import { axes, QUERY_ROWS, type FlashPoint } from "./space.ts";

/** Variables that an invocation keeps in its inner loops; NVIDIA and AMD give it at most 255 registers. */
const MAX_REGISTERS = 200;

/** `keyRows` of points that have no tile: the axis means nothing there, and only this value is valid. */
const NO_TILE_KEY_ROWS = 32;

const SMALLEST_TILE = 8;
/** A limit on the number of steps: more than from the largest values of all axes to the smallest. */
const MOST_STEPS = 64;

/** What a workgroup may have on the device that the kernel is for. */
export interface WorkgroupLimits {
  readonly sharedBytes: number;
  readonly invocations: number;
  /** Values that an invocation may keep in its inner loops; those of a GPU if left out. */
  readonly registers?: number;
}

/** The most that any known device gives a workgroup: NVIDIA's data-centre cards. */
export const DEFAULT_LIMITS: WorkgroupLimits = emitTargets.cuda.workgroup;

/** What a point needs too much of, where it could be valid with less; else two of its values contradict each other. */
type Excess = "invocations" | "shared memory" | "registers" | "none";

interface Objection {
  readonly excess: Excess;
  readonly text: string;
}

/** Why no kernel can be made for the point, in one sentence; null if one can. Cheap. */
export function checkPoint(
  point: FlashPoint,
  problem: AttentionProblem,
  subgroup: number,
  limits: WorkgroupLimits = DEFAULT_LIMITS,
): string | null {
  return objectionTo(point, problem, subgroup, limits)?.text ?? null;
}

function objectionTo(
  point: FlashPoint,
  problem: AttentionProblem,
  subgroup: number,
  limits: WorkgroupLimits,
): Objection | null {
  const text = whyContradictory(point, subgroup);
  if (text !== null) return { excess: "none", text };
  const { workgroup, sharedBytes, registers } = geometryOf(point, problem.shape.dim, subgroup);
  const mostRegisters = limits.registers ?? MAX_REGISTERS;
  if (registers > mostRegisters)
    return {
      excess: "registers",
      text: `An invocation keeps ${registers} values in registers; ${mostRegisters} is the most.`,
    };
  if (workgroup > limits.invocations)
    return {
      excess: "invocations",
      text: `The workgroup has ${workgroup} invocations; ${limits.invocations} is the most.`,
    };
  if (sharedBytes > limits.sharedBytes)
    return {
      excess: "shared memory",
      text: `The workgroup needs ${sharedBytes} bytes of shared memory; ${limits.sharedBytes} is the most.`,
    };
  return null;
}

/** Why values of the axes do not go together, whatever the problem. */
function whyContradictory(point: FlashPoint, subgroup: number): string | null {
  for (const { name, values } of axes) {
    if (!(values as readonly unknown[]).includes(point[name]))
      return `${name} is ${String(point[name])}, and must be one of ${values.join(", ")}.`;
  }
  const { stage, queryRows, rowsPerSubgroup, rowLanes, keyRows, keysPerLane, layout, pipeline, depth } =
    point;
  if (queryRows % rowsPerSubgroup !== 0)
    return `A subgroup holds ${rowsPerSubgroup} rows; the workgroup's ${queryRows} rows are not a multiple of that.`;
  if (rowsPerSubgroup % rowLanes !== 0)
    return `${rowLanes} groups of lanes cannot share out ${rowsPerSubgroup} rows.`;
  const hasTiles = layout !== "row-major" || keyRows !== NO_TILE_KEY_ROWS || pipeline !== "synchronous";
  if (stage === "global" && hasTiles)
    return `Without tiles in shared memory, layout, keyRows and pipeline mean nothing; only row-major, ${NO_TILE_KEY_ROWS} and synchronous are valid.`;
  const [least, most] = pipelines[pipeline].depths;
  if (depth < least || depth > most)
    return `A ${pipeline} pipeline holds ${least === most ? least : `${least} to ${most}`} tiles at once, not ${depth}.`;
  if (pipeline === "roles" && point.exchange !== "shuffle")
    return "Where subgroups have roles, probabilities are exchanged by shuffles.";
  const groupKeys = keysPerLane * keyLanesOf(point, subgroup);
  if (pipeline === "staggered" && keyRows > groupKeys)
    return `A staggered pipeline scores a tile at once: ${groupKeys} keys at most, not ${keyRows}.`;
  if (stage === "shared" && keysPerLane > 1 && groupKeys > keyRows)
    return `A subgroup that scores ${keysPerLane} keys per lane needs ${groupKeys} keys in a tile, not ${keyRows}.`;
  return null;
}

/**
 * The point itself where it is valid for the problem, else the nearest smaller one: wide heads, narrow subgroups and
 * small devices need smaller tiles.
 *
 * @throws EvolverError INVALID_POINT where nothing smaller helps
 */
export function fitPoint(
  point: FlashPoint,
  problem: AttentionProblem,
  subgroup: number,
  limits: WorkgroupLimits = DEFAULT_LIMITS,
): FlashPoint {
  let fitted = point;
  for (let step = 0; step < MOST_STEPS; step++) {
    const objection = objectionTo(fitted, problem, subgroup, limits);
    if (objection === null) return fitted;
    const smaller = shrink(fitted, problem.shape.dim, subgroup, objection.excess);
    if (smaller === null) throw invalidPoint(fitted, problem, subgroup, limits);
    fitted = smaller;
  }
  throw invalidPoint(fitted, problem, subgroup, limits);
}

/** The next smaller point that has less of something; null where there is none. */
function shrink(point: FlashPoint, dim: number, subgroup: number, excess: Excess): FlashPoint | null {
  const { rowsPerSubgroup, rowLanes, keyRows, keysPerLane } = point;
  switch (excess) {
    case "registers":
      return fewerRowsALane(point) ?? fewerKeysALane(point);
    case "invocations":
      return fewerSubgroups(point);
    case "shared memory":
      return lessShared(point, dim, subgroup);
    case "none": {
      const groupKeys = keysPerLane * keyLanesOf(point, subgroup);
      if (point.pipeline === "staggered" && keyRows > groupKeys)
        return keyRows > SMALLEST_TILE
          ? { ...point, keyRows: keyRows / 2 }
          : { ...point, keysPerLane: keysPerLane * 2 };
      if (groupKeys > keyRows) return fewerKeysALane(point);
      return rowsPerSubgroup % rowLanes === 0 ? null : { ...point, rowLanes: rowLanes / 2 };
    }
    default:
      return assertNever(excess, "excess of a point");
  }
}

function fewerRowsALane(point: FlashPoint): FlashPoint | null {
  const { rowsPerSubgroup, rowLanes } = point;
  if (rowsPerSubgroup === 1) return null;
  return {
    ...point,
    rowsPerSubgroup: rowsPerSubgroup / 2,
    rowLanes: Math.min(rowLanes, rowsPerSubgroup / 2),
  };
}

const fewerKeysALane = (point: FlashPoint): FlashPoint | null =>
  point.keysPerLane === 1 ? null : { ...point, keysPerLane: point.keysPerLane / 2 };

/** Half the query rows per workgroup, or the next fewer that its subgroups can share out. */
function fewerSubgroups(point: FlashPoint): FlashPoint | null {
  const queryRows = QUERY_ROWS.findLast(
    (rows) => rows <= point.queryRows / 2 && rows % point.rowsPerSubgroup === 0,
  );
  return queryRows === undefined ? null : { ...point, queryRows };
}

/** Fewer tiles on their way; then smaller ones, of queries or keys, whichever take more; then one tile, and fewer rows. */
function lessShared(point: FlashPoint, dim: number, subgroup: number): FlashPoint | null {
  const { depth, keyRows, keysPerLane, pipeline, stage } = point;
  if (depth > 2) return { ...point, depth: depth - 1 };
  const { query, key, value } = geometryOf(point, dim, subgroup).layouts;
  const ofKeys = (key?.size ?? 0) + (value?.size ?? 0);
  const smallerTile = (): FlashPoint | null => {
    if (stage === "global" || keyRows === SMALLEST_TILE) return null;
    const fits = keysPerLane === 1 || keysPerLane * keyLanesOf(point, subgroup) <= keyRows / 2;
    return { ...point, keyRows: keyRows / 2, keysPerLane: fits ? keysPerLane : keysPerLane / 2 };
  };
  const smaller =
    query.size > ofKeys ? (fewerSubgroups(point) ?? smallerTile()) : (smallerTile() ?? fewerSubgroups(point));
  if (smaller !== null) return smaller;
  if (depth > 1)
    return pipeline === "double-buffered"
      ? { ...point, pipeline: "synchronous", depth: 1 }
      : { ...point, depth: 1 };
  const fewerRows = fewerRowsALane(point);
  return fewerRows === null ? null : { ...fewerRows, queryRows: fewerRows.rowsPerSubgroup };
}

export function invalidPoint(
  point: FlashPoint,
  problem: AttentionProblem,
  subgroup: number,
  limits: WorkgroupLimits = DEFAULT_LIMITS,
): EvolverError {
  return new EvolverError(
    "INVALID_POINT",
    `no kernel for head dimension ${problem.shape.dim} at subgroup width ${subgroup}: ${checkPoint(point, problem, subgroup, limits)}`,
    {
      hint: "choose another point; checkPoint() says which are valid, fitPoint() makes one smaller until it fits",
    },
  );
}
