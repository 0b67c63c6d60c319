import { f32 } from "@evolver/kernel";
import type { Layout, SharedArray, U32 } from "@evolver/kernel";
import { copyRows, readRun, type RowCopy } from "../runs.ts";
import type { HeadRows, StageMaker } from "./index.ts";

/**
 * Tiles in shared memory, copied by all invocations together: each element is read from global memory once a
 * workgroup, in whole sectors. Rows that do not exist hold zeros, so that memory past the end is never read and
 * cannot reach a result.
 */
export const sharedStage: StageMaker = (gpu, geometry) => {
  const { keyRows, vector, columns, layouts } = geometry;
  const keyTile = gpu.shared(f32, layouts.key as Layout, "k_tile");
  const valueTile = gpu.shared(f32, layouts.value as Layout, "v_tile");
  const rows = Math.min(geometry.subgroup, keyRows);

  return (keys, values) => {
    const copyOf = (from: HeadRows, to: SharedArray<"f32">, base: U32): RowCopy => ({
      to,
      read: (row, column) => readRun(from.view, [base.add(row)], column, columns.width, from.access.vector),
    });
    return {
      keyRows,
      copy: (base, count) =>
        copyRows(gpu, geometry, keyRows, (row) => row.lt(count), [
          copyOf(keys, keyTile, base),
          copyOf(values, valueTile, base),
        ]),
      tile: (base, count) => ({
        base,
        count,
        readableRows: keyRows,
        // A subgroup wider than the tile has lanes without a key of their own.
        key: (row, column) =>
          readRun(keyTile, [rows < geometry.subgroup ? row.min(keyRows - 1) : row], column, vector, vector),
        value: (row, column) => readRun(valueTile, [row], column, columns.width, columns.width),
      }),
    };
  };
};
