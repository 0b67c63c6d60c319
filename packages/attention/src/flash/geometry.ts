/**
 * What a kernel's tiles measure: sizes of the workgroup, its tiles and what a lane holds. Known before the kernel is recorded;
 * worked out from a point of the space by measure.ts.
 */

import type { Layout } from "@evolver/kernel";

/** Elements that one access moves along a row. */
export type VectorWidth = 1 | 2 | 4;

/** The widest access, at most `limit`, that divides all of the extents. */
export function widestVector(limit: number, ...extents: readonly number[]): VectorWidth {
  for (const width of [4, 2] as const)
    if (width <= limit && extents.every((extent) => extent % width === 0)) return width;
  return 1;
}

/** Columns of the head dimension dealt to `lanes` lanes: each has `chunks` runs of `width` neighbours. */
export interface ColumnRuns {
  readonly lanes: number;
  readonly width: VectorWidth;
  readonly chunks: number;
}

/** How a kernel divides its work among workgroups, subgroups and lanes. */
export interface Geometry {
  readonly dim: number;
  /** Invocations per subgroup. */
  readonly subgroup: number;
  /** Subgroups per workgroup that compute; each has rows of its own. */
  readonly subgroups: number;
  /** Subgroups that only copy; they come first. */
  readonly producers: number;
  /** Invocations per workgroup. */
  readonly workgroup: number;
  /** Query rows per workgroup, per subgroup and per lane. */
  readonly queryRows: number;
  readonly rowsPerSubgroup: number;
  readonly rows: number;
  /** The lanes of a subgroup are a grid: `rowLanes` groups with rows of their own, of `keyLanes` lanes that share them. */
  readonly rowLanes: number;
  readonly keyLanes: number;
  /** Keys per tile, where there are tiles. */
  readonly keyRows: number;
  /** Tiles that shared memory holds at once. */
  readonly slots: number;
  /** What one such tile holds of keys and values together, padding apart. */
  readonly slotBytes: number;
  /** Keys that a subgroup scores at once: key lane l has keys l, l + keyLanes, … of the group. */
  readonly groupKeys: number;
  /** Groups of keys per tile. A tile smaller than a group counts as one group, with idle lanes. */
  readonly groups: number;
  readonly keysPerLane: number;
  /** Keys per tile, or that are used at once where there are no tiles. */
  readonly tileKeys: number;
  /** Keys whose sums are apart from those of others where rows are long; whole tiles. */
  readonly blockKeys: number;
  /** Neighbouring probabilities that one access to shared memory reads. */
  readonly probabilityWidth: VectorWidth;
  /** Elements per read along the head dimension while scoring. */
  readonly vector: VectorWidth;
  /** Steps of the inner loops to write out. */
  readonly unroll: number;
  /** Columns that a lane accumulates. */
  readonly columns: ColumnRuns;
  /** Columns that a lane copies, of the rows of a tile. */
  readonly copyColumns: ColumnRuns;
  /** Arrays in shared memory; null where the point has none. */
  readonly layouts: {
    readonly query: Layout;
    readonly key: Layout | null;
    readonly value: Layout | null;
    readonly probability: Layout | null;
  };
  readonly sharedBytes: number;
  /** Values that an invocation keeps through the inner loops: accumulators, scores and softmax state. */
  readonly registers: number;
}
