/**
 * What a point means in numbers for one head dimension and subgroup width. Everything here is known before the kernel is
 * recorded.
 */

import { elementBytes, padded, rowMajor } from "@evolver/kernel";
import { widestVector, type ColumnRuns, type Geometry, type VectorWidth } from "./geometry.ts";
import { layouts } from "./axes/layout/index.ts";
import { pipelines } from "./axes/pipeline/index.ts";
import type { FlashPoint } from "./space.ts";
import { schedules } from "./axes/schedule/index.ts";
import { LONGEST_SUM } from "./sums.ts";

/** The geometry of a point's kernel, for a head dimension and a subgroup width. */
export function geometryOf(point: FlashPoint, dim: number, subgroup: number): Geometry {
  const { queryRows, rowsPerSubgroup, keyRows, keysPerLane, depth } = point;
  const keyLanes = keyLanesOf(point, subgroup);
  const rowLanes = subgroup / keyLanes;
  const rows = rowsPerSubgroup / rowLanes;
  const subgroups = queryRows / rowsPerSubgroup;
  const producers = pipelines[point.pipeline].producers;
  const vector = widestVector(point.vector, dim);
  const groupKeys = keysPerLane * keyLanes;
  const columns = columnsOf(vector, dim, keyLanes);
  const staged = point.stage === "shared";
  const tileKeys = staged ? keyRows : groupKeys;
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
    tileKeys,
    // Where probabilities are in shared memory, the registers of a group's scores are free for sums of its own.
    blockKeys:
      point.exchange === "shared" && tileKeys <= groupKeys ? tileKeys : Math.max(LONGEST_SUM, tileKeys),
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

/** Wide accesses, unless narrower ones give more lanes per column. */
function columnsOf(vector: VectorWidth, dim: number, lanes: number): ColumnRuns {
  let width = vector;
  while (width > 1 && width * lanes > dim) width = (width / 2) as VectorWidth;
  return { lanes, width, chunks: Math.ceil(dim / (width * lanes)) };
}

/** Always wide accesses: where a row needs fewer of them than a subgroup has lanes, it copies several rows at once. */
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
