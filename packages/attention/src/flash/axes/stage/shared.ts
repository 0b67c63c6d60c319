import { f32 } from "@evolver/kernel";
import type { Layout, SharedArray, U32 } from "@evolver/kernel";
import { Copier, type HeadCopy, type RowCopy } from "../../copy.ts";
import { plus, readRun, times } from "../../runs.ts";
import type { StageMaker } from "./stage.ts";

/**
 * Tiles in shared memory, which a crew of subgroups copies together: each element is read from global memory once per workgroup, in
 * whole sectors. Rows that do not exist hold zeros, so that memory past the end is never read and cannot reach a
 * result.
 */
export const sharedStage: StageMaker = (gpu, geometry, crew) => {
  const { keyRows, keyLanes, vector, columns, copyColumns, layouts } = geometry;
  const keyTile = gpu.shared(f32, layouts.key as Layout, "k_tile");
  const valueTile = gpu.shared(f32, layouts.value as Layout, "v_tile");
  const copier = new Copier(gpu, geometry, crew);
  const rows = Math.min(keyLanes, keyRows);

  return (keys, values) => {
    const keyCopy: HeadCopy = { to: keyTile, from: keys.view, access: keys.access };
    const valueCopy: HeadCopy = { to: valueTile, from: values.view, access: values.access };
    const heads = [keyCopy, valueCopy];
    const parts = { keys: [keyCopy], values: [valueCopy] };
    const readingFrom = (base: U32): RowCopy[] =>
      heads.map(({ to, from, access }) => ({
        to,
        read: (row, column) => readRun(from, [base.add(row)], column, copyColumns.width, access.vector),
      }));
    return {
      keyRows,
      copies: {
        copy: (base, count, slot) =>
          copier.copy(keyRows, (row) => row.lt(count), readingFrom(base), times(slot, keyRows)),
        fetch: (base, count) => {
          const write = copier.fetch(keyRows, { first: base, count }, heads);
          return (slot) => write(times(slot, keyRows));
        },
        start: (base, count, slot, part) =>
          copier.start(keyRows, { first: base, count }, part ? parts[part] : heads, times(slot, keyRows)),
      },
      tile: (base, count, slot) => {
        const first = times(slot, keyRows);
        // A subgroup wider than the tile has lanes without a key of their own.
        const inTile = (row: U32): U32 => (rows < keyLanes ? row.min(keyRows - 1) : row);
        const read = (array: SharedArray<"f32">, row: U32 | number, column: U32 | number, width: 1 | 2 | 4) =>
          readRun(array, [plus(first, row)], column, width, width);
        return {
          base,
          count,
          readableRows: keyRows,
          key: (row, column) => read(keyTile, inTile(row), column, vector),
          value: (row, column) => read(valueTile, row, column, columns.width),
        };
      },
    };
  };
};
