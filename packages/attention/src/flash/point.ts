/**
 * Points of the strategy space: one value for each axis, plain JSON data. A rung of the ladder is a named point, a
 * candidate of a search another one. How the values become a kernel is the business of the axes' own files.
 */

import { EvolverError } from "@evolver/base";
import type { AttentionProblem } from "../problem.ts";
import { geometryOf, keyLanesOf } from "./geometry.ts";

/** A type alias, not an interface, so that a point is also a plain record of axis values. */
// oxlint-disable-next-line typescript/consistent-type-definitions
export type FlashPoint = {
  /** Where K and V are read from: straight from global memory, or from tiles in shared memory. */
  readonly stage: "global" | "shared";
  /** Query rows that a workgroup computes; they share its tiles of K and V. */
  readonly queryRows: number;
  /** Query rows that a subgroup holds at once. */
  readonly rowsPerSubgroup: number;
  /**
   * Groups of lanes that share out those rows: 1 gives every lane all of them. A lane's rows × its keys, and × its
   * columns, are the tile it holds in registers; each K and V element it reads is used for all of its rows.
   */
  readonly rowLanes: number;
  /** Keys a tile in shared memory holds. */
  readonly keyRows: number;
  /** Keys that a lane scores at once: each query element it reads is used for all of them. */
  readonly keysPerLane: number;
  /** How the tile of K lies in shared memory. */
  readonly layout: "row-major" | "padded" | "swizzled";
  /** Elements an access reads at most, along the head dimension: 1, 2 or 4. */
  readonly vector: number;
  /** Steps of the inner loops that the compiler is asked to write out one after another. */
  readonly unroll: number;
  /** How the lanes of a subgroup learn each other's probabilities. */
  readonly exchange: "shuffle" | "shared";
  /** Whether each score is checked against the mask and the end of the sequence, or only in tiles that they cut. */
  readonly masking: "everywhere" | "at edges";
  /** When tiles are copied, and by whom. */
  readonly pipeline: "synchronous" | "double-buffered" | "ring" | "roles" | "staggered";
  /** Tiles of K and V that shared memory holds at once. */
  readonly depth: number;
  /** Whether each tile of queries has a workgroup of its own, or a fixed number of workgroups takes them in turn. */
  readonly schedule: "one workgroup a tile" | "persistent";
  /** Whether the rows of a tile belong to one query head, or to all that share a key head. */
  readonly heads: "by index" | "packed";
};

type Axes = {
  readonly [K in keyof FlashPoint]: { readonly name: K; readonly values: readonly FlashPoint[K][] };
}[keyof FlashPoint];

const QUERY_ROWS = [1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

/** The axes of the space with their values in order; neighbours are small steps. */
export const axes: readonly Axes[] = Object.freeze([
  { name: "stage", values: ["global", "shared"] },
  { name: "queryRows", values: QUERY_ROWS },
  { name: "rowsPerSubgroup", values: [1, 2, 4, 8, 16, 32] },
  { name: "rowLanes", values: [1, 2, 4, 8] },
  { name: "keyRows", values: [8, 16, 32, 64, 128] },
  { name: "keysPerLane", values: [1, 2, 4, 8] },
  { name: "layout", values: ["row-major", "padded", "swizzled"] },
  { name: "vector", values: [1, 2, 4] },
  { name: "unroll", values: [1, 2, 4, 8] },
  { name: "exchange", values: ["shuffle", "shared"] },
  { name: "masking", values: ["everywhere", "at edges"] },
  { name: "pipeline", values: ["synchronous", "double-buffered", "ring", "roles", "staggered"] },
  { name: "depth", values: [1, 2, 3, 4] },
  { name: "schedule", values: ["one workgroup a tile", "persistent"] },
  { name: "heads", values: ["by index", "packed"] },
]);

const MAX_SHARED_BYTES = 227 * 1024;
const MAX_WORKGROUP = 1024;
/** Tiles at once that each pipeline can have. */
const DEPTHS: Readonly<Record<FlashPoint["pipeline"], readonly [least: number, most: number]>> = {
  synchronous: [1, 1],
  "double-buffered": [2, 2],
  ring: [1, 4],
  roles: [1, 4],
  staggered: [1, 1],
};
/** Variables that an invocation keeps in its inner loops; NVIDIA and AMD give it at most 255 registers. */
const MAX_REGISTERS = 200;

/** `keyRows` of points that have no tile: the axis means nothing there, and only this value is valid. */
const NO_TILE_KEY_ROWS = 32;

const SMALLEST_TILE = 8;
/** More than any way from the largest values of the axes to the smallest. */
const MOST_STEPS = 64;

/** What a workgroup may have on the device that the kernel is for. */
export interface WorkgroupLimits {
  readonly sharedBytes: number;
  readonly invocations: number;
  /** Values that an invocation may keep in its inner loops; those of a GPU if left out. */
  readonly registers?: number;
}

/** The most that any known device gives a workgroup: NVIDIA's data-centre cards. */
export const DEFAULT_LIMITS: WorkgroupLimits = Object.freeze({
  sharedBytes: MAX_SHARED_BYTES,
  invocations: MAX_WORKGROUP,
});

/** What a point has too much of, where it could be valid with less; else it is the values that do not go together. */
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
    return `A subgroup holds ${rowsPerSubgroup} rows, of which the workgroup's ${queryRows} are no multiple.`;
  if (rowsPerSubgroup % rowLanes !== 0)
    return `${rowLanes} groups of lanes cannot share out ${rowsPerSubgroup} rows.`;
  const hasTiles = layout !== "row-major" || keyRows !== NO_TILE_KEY_ROWS || pipeline !== "synchronous";
  if (stage === "global" && hasTiles)
    return `Without tiles in shared memory, layout, keyRows and pipeline mean nothing; only row-major, ${NO_TILE_KEY_ROWS} and synchronous are valid.`;
  const [least, most] = DEPTHS[pipeline];
  if (depth < least || depth > most)
    return `A ${pipeline} pipeline holds ${least === most ? least : `${least} to ${most}`} tiles at once, not ${depth}.`;
  if (pipeline === "roles" && point.exchange !== "shuffle")
    return "Where subgroups have roles, probabilities are exchanged by shuffles.";
  const groupKeys = keysPerLane * keyLanesOf(point, subgroup);
  if (pipeline === "staggered" && keyRows > groupKeys)
    return `A staggered pipeline scores a tile at once: ${groupKeys} keys at most, not ${keyRows}.`;
  if (stage === "shared" && keysPerLane > 1 && groupKeys > keyRows)
    return `A subgroup that scores ${keysPerLane} keys a lane needs ${groupKeys} keys in a tile, not ${keyRows}.`;
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

/** Half the query rows a workgroup, or the next fewer that its subgroups can share out. */
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
