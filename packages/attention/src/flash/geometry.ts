/**
 * What a point means in numbers for one head dimension and subgroup width: sizes of the workgroup, its tiles and
 * what a lane holds. Everything here is known before the kernel is recorded.
 */

import { elementBytes, padded, rowMajor } from "@evolver/kernel";
import type { Layout } from "@evolver/kernel";
import { layouts } from "./layout/index.ts";
import type { FlashPoint } from "./point.ts";
import { schedules } from "./schedule/index.ts";

/** Subgroups that copy and do not compute, where there are roles. */
const PRODUCERS = 2;

export type VectorWidth = 1 | 2 | 4;

/** Columns of the head dimension dealt to `lanes` lanes: each has `chunks` runs of `width` neighbours. */
export interface ColumnRuns {
  readonly lanes: number;
  readonly width: VectorWidth;
  readonly chunks: number;
}

export interface Geometry {
  readonly dim: number;
  /** Invocations a subgroup. */
  readonly subgroup: number;
  /** Subgroups a workgroup that compute; each has rows of its own. */
  readonly subgroups: number;
  /** Subgroups that only copy; they come first. */
  readonly producers: number;
  /** Invocations a workgroup. */
  readonly workgroup: number;
  /** Query rows a workgroup, a subgroup, and a lane. */
  readonly queryRows: number;
  readonly rowsPerSubgroup: number;
  readonly rows: number;
  /** The lanes of a subgroup are a grid: `rowLanes` groups with rows of their own, of `keyLanes` lanes that share them. */
  readonly rowLanes: number;
  readonly keyLanes: number;
  /** Keys a tile, where there are tiles. */
  readonly keyRows: number;
  /** Tiles that shared memory holds at once. */
  readonly slots: number;
  /** What one such tile holds of keys and values together, padding apart. */
  readonly slotBytes: number;
  /** Keys a subgroup scores at once: key lane l has keys l, l + keyLanes, … of the group. */
  readonly groupKeys: number;
  /** Groups a tile; a tile smaller than a group is one, with idle lanes. */
  readonly groups: number;
  readonly keysPerLane: number;
  /** Neighbouring probabilities that one access to shared memory reads. */
  readonly probabilityWidth: VectorWidth;
  /** Elements an access along the head dimension reads while scoring. */
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

export function geometryOf(point: FlashPoint, dim: number, subgroup: number): Geometry {
  const { queryRows, rowsPerSubgroup, keyRows, keysPerLane, depth } = point;
  const keyLanes = keyLanesOf(point, subgroup);
  const rowLanes = subgroup / keyLanes;
  const rows = rowsPerSubgroup / rowLanes;
  const subgroups = queryRows / rowsPerSubgroup;
  const producers = point.pipeline === "roles" ? PRODUCERS : 0;
  const vector = widestVector(point.vector, dim);
  const groupKeys = keysPerLane * keyLanes;
  const columns = columnsOf(vector, dim, keyLanes);
  const staged = point.stage === "shared";
  const arranged = {
    query: rowLanes > 1 ? layouts[point.layout](queryRows, dim, vector) : rowMajor([queryRows, dim]),
    key: staged ? layouts[point.layout](depth * keyRows, dim, vector) : null,
    value: staged ? rowMajor([depth * keyRows, dim]) : null,
    probability:
      point.exchange === "shared"
        ? padded([queryRows, groupKeys], probabilityPad(rowLanes, keyLanes, groupKeys))
        : null,
  };
  const elements = Object.values(arranged).reduce((sum, layout) => sum + (layout?.size ?? 0), 0);
  return {
    dim,
    subgroup,
    subgroups,
    producers,
    workgroup: (subgroups + producers) * subgroup,
    queryRows,
    rowsPerSubgroup,
    rows,
    rowLanes,
    keyLanes,
    keyRows,
    slots: depth,
    slotBytes: 2 * keyRows * dim * elementBytes("f32"),
    groupKeys,
    groups: staged ? Math.max(1, keyRows / groupKeys) : 1,
    keysPerLane,
    probabilityWidth: widestVector(4, groupKeys),
    vector,
    unroll: point.unroll,
    columns,
    copyColumns: copyColumnsOf(vector, dim, subgroup),
    layouts: arranged,
    sharedBytes: elements * elementBytes("f32") + schedules[point.schedule].sharedBytes,
    registers: rows * (columns.chunks * columns.width + keysPerLane + 2),
  };
}

/** Lanes that share rows; at least one, where a subgroup is narrower than the groups that the point asks for. */
export const keyLanesOf = ({ rowLanes }: FlashPoint, subgroup: number): number =>
  subgroup / Math.min(rowLanes, subgroup);

/** The widest access, at most `limit`, that divides all of the extents. */
export function widestVector(limit: number, ...extents: readonly number[]): VectorWidth {
  for (const width of [4, 2] as const)
    if (width <= limit && extents.every((extent) => extent % width === 0)) return width;
  return 1;
}

/** Wide accesses, unless narrower ones give more lanes a column. */
function columnsOf(vector: VectorWidth, dim: number, lanes: number): ColumnRuns {
  let width = vector;
  while (width > 1 && width * lanes > dim) width = (width / 2) as VectorWidth;
  return { lanes, width, chunks: Math.ceil(dim / (width * lanes)) };
}

/** Wide accesses always: where a row has fewer than lanes, a subgroup copies several rows at once. */
function copyColumnsOf(width: VectorWidth, dim: number, subgroup: number): ColumnRuns {
  const runs = Math.ceil(dim / width);
  const lanes = Math.min(subgroup, 2 ** Math.ceil(Math.log2(runs)));
  return { lanes, width, chunks: Math.ceil(runs / lanes) };
}

/** Lanes of several rows write neighbouring keys: rows start `keyLanes` banks apart where that keeps them from meeting. */
function probabilityPad(rowLanes: number, keyLanes: number, groupKeys: number): number {
  if (rowLanes === 1 || groupKeys % 32 !== 0) return 0;
  return Math.max(4, keyLanes % 4 === 0 ? keyLanes : 4);
}
