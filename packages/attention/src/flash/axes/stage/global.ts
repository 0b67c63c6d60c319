import { min } from "@evolver/kernel";
import type { U32 } from "@evolver/kernel";
import { readRun, type UIndex } from "../../runs.ts";
import type { StageMaker } from "./stage.ts";

/** Straight from global memory, once per query row. Only caches can save reads. */
export const globalStage: StageMaker = (_gpu, geometry) => (keys, values) => ({
  keyRows: geometry.groupKeys,
  copies: null,
  tile(base, count) {
    const last = count.sub(1);
    const row = (index: UIndex): U32 => base.add(min(last, index));
    return {
      base,
      count,
      readableRows: count,
      key: (index, column) => readRun(keys.view, [row(index)], column, geometry.vector, keys.access.vector),
      value: (index, column) =>
        readRun(values.view, [row(index)], column, geometry.columns.width, values.access.vector),
    };
  },
});
