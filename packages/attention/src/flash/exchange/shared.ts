import { f32 } from "@evolver/kernel";
import type { Layout } from "@evolver/kernel";
import { plus, readRun } from "../runs.ts";
import type { ExchangeMaker } from "./index.ts";

/**
 * Through shared memory: one wide read, the same address in all lanes, brings four probabilities. The price is memory
 * and two barriers a group of keys.
 */
export const throughShared: ExchangeMaker = (gpu, geometry, firstRow) => {
  const array = gpu.shared(f32, geometry.layouts.probability as Layout, "p_tile");
  return {
    width: 4,
    publish(probabilities) {
      probabilities.forEach((slots, row) =>
        slots.forEach((probability, slot) =>
          array.set(plus(firstRow, row), gpu.lane.add(slot * geometry.subgroup), probability),
        ),
      );
      gpu.barrier();
    },
    read: (row, slot, lane) =>
      readRun(array, [plus(firstRow, row)], lane.add(slot * geometry.subgroup), 4, 4),
    release: () => gpu.barrier(),
  };
};
