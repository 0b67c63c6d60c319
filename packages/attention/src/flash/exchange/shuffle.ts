import { clamp } from "@evolver/kernel";
import type { F32, U32 } from "@evolver/kernel";
import { plus } from "../runs.ts";
import type { ExchangeMaker } from "./index.ts";

/** Each probability is fetched from the lane that has it: one subgroup operation a row and key. */
export const byShuffle: ExchangeMaker = (gpu, { keyLanes, subgroup, keysPerLane }) => {
  let published: readonly (readonly F32[])[] = [];
  /** The first of the lanes that have the lane's rows. */
  const first = keyLanes === subgroup ? null : gpu.lane.sub(gpu.lane.remTrunc(keyLanes));
  const fetch = (value: F32, lane: U32): F32 =>
    first === null ? gpu.subgroup.broadcast(value, lane) : gpu.subgroup.shuffle(value, first.add(lane));
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
        gpu.for({ from: 0, to, unroll: 4 }, (lane: U32) =>
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
