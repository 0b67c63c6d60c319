/**
 * Points of the strategy space: one value for each axis, plain JSON data. A rung of the ladder is a named point, a
 * candidate of a search another one. Axes of strategies take their values from the tables in the axes' folders; which values go
 * together is said in fit.ts.
 */

import { exchanges } from "./axes/exchange/index.ts";
import { headMappings } from "./axes/heads/index.ts";
import { layouts } from "./axes/layout/index.ts";
import { pipelines } from "./axes/pipeline/index.ts";
import { schedules } from "./axes/schedule/index.ts";
import { stages } from "./axes/stage/index.ts";

/** A type alias, not an interface, so that a point is also a plain record of axis values. */
// oxlint-disable-next-line typescript/consistent-type-definitions
export type FlashPoint = {
  /** Where K and V are read from: straight from global memory, or from tiles in shared memory. */
  readonly stage: keyof typeof stages;
  /** Query rows that a workgroup computes; they share its tiles of K and V. */
  readonly queryRows: number;
  /** Query rows that a subgroup holds at once. */
  readonly rowsPerSubgroup: number;
  /**
   * Groups of lanes that share out those rows: 1 gives every lane all of them. A lane's rows × its keys, and × its
   * columns, are the tile it holds in registers; each K and V element it reads is used for all of its rows.
   */
  readonly rowLanes: number;
  /** Keys per tile in shared memory. */
  readonly keyRows: number;
  /** Keys that a lane scores at once: each query element it reads is used for all of them. */
  readonly keysPerLane: number;
  /** How the tile of K lies in shared memory. */
  readonly layout: keyof typeof layouts;
  /** The most elements per read, along the head dimension: 1, 2 or 4. */
  readonly vector: number;
  /** Steps of the inner loops that the compiler is asked to write out one after another. */
  readonly unroll: number;
  /** How the lanes of a subgroup learn each other's probabilities. */
  readonly exchange: keyof typeof exchanges;
  /** Whether each score is checked against the mask and the end of the sequence, or only in tiles that they cut. */
  readonly masking: "everywhere" | "at edges";
  /** When tiles are copied, and by whom. */
  readonly pipeline: keyof typeof pipelines;
  /** Tiles of K and V that shared memory holds at once. */
  readonly depth: number;
  /** Whether each tile of queries has a workgroup of its own, or a fixed number of workgroups takes them in turn. */
  readonly schedule: keyof typeof schedules;
  /** Whether the rows of a tile belong to one query head, or to all that share a key head. */
  readonly heads: keyof typeof headMappings;
};

type Axes = {
  readonly [K in keyof FlashPoint]: { readonly name: K; readonly values: readonly FlashPoint[K][] };
}[keyof FlashPoint];

const namesOf = <T extends object>(points: T): readonly (keyof T)[] => Object.keys(points) as (keyof T)[];

export const QUERY_ROWS = [1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

/** The axes of the space with their values in order; neighbours are small steps. */
export const axes: readonly Axes[] = Object.freeze([
  { name: "stage", values: namesOf(stages) },
  { name: "queryRows", values: QUERY_ROWS },
  { name: "rowsPerSubgroup", values: [1, 2, 4, 8, 16, 32] },
  { name: "rowLanes", values: [1, 2, 4, 8] },
  { name: "keyRows", values: [8, 16, 32, 64, 128] },
  { name: "keysPerLane", values: [1, 2, 4, 8] },
  { name: "layout", values: namesOf(layouts) },
  { name: "vector", values: [1, 2, 4] },
  { name: "unroll", values: [1, 2, 4, 8] },
  { name: "exchange", values: namesOf(exchanges) },
  { name: "masking", values: ["everywhere", "at edges"] },
  { name: "pipeline", values: namesOf(pipelines) },
  { name: "depth", values: [1, 2, 3, 4] },
  { name: "schedule", values: namesOf(schedules) },
  { name: "heads", values: namesOf(headMappings) },
]);
