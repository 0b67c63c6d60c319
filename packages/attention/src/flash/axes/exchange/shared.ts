import { f32 } from "@evolver/kernel";
import type { Layout, U32 } from "@evolver/kernel";
import { readRun, type UIndex } from "../../runs.ts";
import type { ExchangeMaker } from "./exchange.ts";

/**
 * Through shared memory: one wide read, the same address in all lanes of a row, brings four probabilities. A row is
 * written and read by one subgroup, so that a barrier of the subgroup is enough before and after.
 */
export const throughShared: ExchangeMaker = (gpu, geometry, { keyLane }, rows) => {
  const { keyLanes, probabilityWidth: width } = geometry;
  const array = gpu.shared(f32, geometry.layouts.probability as Layout, "p_tile");
  return {
    publish(probabilities) {
      probabilities.forEach((slots, row) =>
        slots.forEach((probability, slot) =>
          array.set(rows[row] as UIndex, keyLane.add(slot * keyLanes), probability),
        ),
      );
      gpu.subgroup.barrier();
    },
    walk(count, body) {
      gpu.for({ from: 0, to: count, step: width, unroll: geometry.unroll }, (key: U32) =>
        body(
          key,
          rows.map((row) => readRun(array, [row], key, width, width)),
        ),
      );
    },
    release: () => gpu.subgroup.barrier(),
  };
};
