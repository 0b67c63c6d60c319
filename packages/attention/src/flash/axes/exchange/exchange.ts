/**
 * The exchange axis: scores are computed with a lane for each key, outputs with a lane for each column, so every lane
 * needs the probabilities that the others of its row found.
 */

import type { F32, Gpu } from "@evolver/kernel";
import type { Geometry } from "../../geometry.ts";
import type { LaneGrid } from "../../grid.ts";
import type { UIndex } from "../../runs.ts";

export interface Exchange {
  /** Takes each lane's probabilities: [row][slot], for the key that the lane has in that slot. */
  publish(probabilities: readonly (readonly F32[])[]): void;
  /**
   * Loops over the first `count` keys of the group, several neighbours at a time. `body` gets the place in the group of
   * the first of them, and the probabilities [row][neighbour].
   */
  walk(count: UIndex, body: (key: UIndex, probabilities: readonly (readonly F32[])[]) => void): void;
  /** To be called after the last loop over the published probabilities. */
  release(): void;
}

/** `rows`: where the lane's rows are in the tile of queries. */
export type ExchangeMaker = (
  gpu: Gpu,
  geometry: Geometry,
  grid: LaneGrid,
  rows: readonly UIndex[],
) => Exchange;
