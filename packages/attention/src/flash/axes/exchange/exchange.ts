/**
 * The exchange axis: scores are computed with a lane for each key, outputs with a lane for each column, so every lane
 * needs the probabilities that the others of its row found.
 */

import type { F32, Gpu } from "@evolver/kernel";
import type { Geometry } from "../../geometry.ts";
import type { LaneGrid } from "../../grid.ts";
import type { UIndex } from "../../runs.ts";

export interface Exchange {
  /** Takes what each lane found: [row][slot], for the key of its lane in that slot. */
  publish(probabilities: readonly (readonly F32[])[]): void;
  /**
   * Walks the first `count` keys of the group some neighbours at a time: `body` is given the first one's place in the
   * group and the probabilities [row][neighbour].
   */
  walk(count: UIndex, body: (key: UIndex, probabilities: readonly (readonly F32[])[]) => void): void;
  /** After the last walk over what was published. */
  release(): void;
}

/** `rows`: where the lane's rows are in the tile of queries. */
export type ExchangeMaker = (
  gpu: Gpu,
  geometry: Geometry,
  grid: LaneGrid,
  rows: readonly UIndex[],
) => Exchange;
