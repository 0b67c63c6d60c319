/**
 * What a point means in numbers for one head dimension and subgroup width: sizes of the workgroup, its tiles and
 * what a lane holds. Everything here is known before the kernel is recorded.
 */

import { elementBytes, rowMajor } from "@evolver/kernel";
import type { Layout } from "@evolver/kernel";
import { layouts } from "./layout/index.ts";
import type { FlashPoint } from "./point.ts";

export type VectorWidth = 1 | 2 | 4;

export interface Geometry {
  readonly dim: number;
  /** Invocations a subgroup. */
  readonly subgroup: number;
  /** Subgroups a workgroup; each has rows of its own. */
  readonly subgroups: number;
  /** Invocations a workgroup. */
  readonly workgroup: number;
  /** Query rows a workgroup, and a subgroup. */
  readonly queryRows: number;
  readonly rows: number;
  /** Keys a tile, where there are tiles. */
  readonly keyRows: number;
  /** Keys a subgroup scores at once: lane l has keys l, l + W, … of the group. */
  readonly groupKeys: number;
  /** Groups a tile; a tile smaller than a group is one, with idle lanes. */
  readonly groups: number;
  readonly keysPerLane: number;
  /** Elements an access along the head dimension reads while scoring. */
  readonly vector: VectorWidth;
  /** Columns of the head dimension that a lane accumulates: `chunks` runs of `width` neighbours. */
  readonly columns: { readonly width: VectorWidth; readonly chunks: number };
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

export function geometryOf(point: FlashPoint, dim: number, subgroup: number): Geometry {
  const { queryRows, rowsPerSubgroup: rows, keyRows, keysPerLane } = point;
  const subgroups = queryRows / rows;
  const vector = widestVector(point.vector, dim);
  const groupKeys = keysPerLane * subgroup;
  const columns = columnsOf(vector, dim, subgroup);
  const staged = point.stage === "shared";
  const arranged = {
    query: rowMajor([queryRows, dim]),
    key: staged ? layouts[point.layout](keyRows, dim, vector) : null,
    value: staged ? rowMajor([keyRows, dim]) : null,
    probability: point.exchange === "shared" ? rowMajor([queryRows, groupKeys]) : null,
  };
  const elements = Object.values(arranged).reduce((sum, layout) => sum + (layout?.size ?? 0), 0);
  return {
    dim,
    subgroup,
    subgroups,
    workgroup: subgroups * subgroup,
    queryRows,
    rows,
    keyRows,
    groupKeys,
    groups: staged ? Math.max(1, keyRows / groupKeys) : 1,
    keysPerLane,
    vector,
    columns,
    layouts: arranged,
    sharedBytes: elements * elementBytes("f32"),
    registers: rows * (columns.chunks * columns.width + keysPerLane + 2),
  };
}

/** The widest access, at most `limit`, that divides all of the extents. */
export function widestVector(limit: number, ...extents: readonly number[]): VectorWidth {
  for (const width of [4, 2] as const)
    if (width <= limit && extents.every((extent) => extent % width === 0)) return width;
  return 1;
}

/** Wide accesses, unless narrower ones give more lanes a column. */
function columnsOf(vector: VectorWidth, dim: number, subgroup: number): Geometry["columns"] {
  let width = vector;
  while (width > 1 && width * subgroup > dim) width = (width / 2) as VectorWidth;
  return { width, chunks: Math.ceil(dim / (width * subgroup)) };
}
