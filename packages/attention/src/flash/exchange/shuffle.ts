import type { F32 } from "@evolver/kernel";
import type { ExchangeMaker } from "./index.ts";

/** Each probability is broadcast from the lane that has it: one subgroup operation a row and key. */
export const byShuffle: ExchangeMaker = (gpu) => {
  let published: readonly (readonly F32[])[] = [];
  return {
    width: 1,
    publish(probabilities) {
      published = probabilities;
    },
    read: (row, slot, lane) => [gpu.subgroup.broadcast(published[row]?.[slot] as F32, lane)],
    release() {
      published = [];
    },
  };
};
