import { clamp } from "@evolver/kernel";
import type { F32, U32 } from "@evolver/kernel";
import { plus } from "../../runs.ts";
import type { ExchangeMaker } from "./exchange.ts";

/** Each probability is fetched from the lane that has it: one subgroup operation per row and key. */
export const byShuffle: ExchangeMaker = (gpu, { keyLanes, subgroup, keysPerLane, unroll }, grid) => {
  let published: readonly (readonly F32[])[] = [];
  const fetch = (value: F32, lane: U32): F32 =>
    keyLanes === subgroup
      ? gpu.subgroup.broadcast(value, lane)
      : gpu.subgroup.shuffle(value, grid.laneOf(lane));
  return {
    publish(probabilities) {
      published = probabilities;
    },
    walk(count, body) {
      for (let slot = 0; slot < keysPerLane; slot++) {
        const start = slot * keyLanes;
        const to =
          typeof count === "number"
            ? Math.min(keyLanes, count - start)
            : clamp(count, start, start + keyLanes).sub(start);
        gpu.for({ from: 0, to, unroll }, (lane: U32) =>
          body(
            plus(start, lane),
            published.map((slots) => [fetch(slots[slot] as F32, lane)]),
          ),
        );
      }
    },
    release() {
      published = [];
    },
  };
};
