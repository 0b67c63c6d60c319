/**
 * The exchange axis: scores are computed with a lane for each key, outputs with a lane for each column, so every lane
 * needs the probabilities that the others found.
 */

import type { F32, Gpu, U32 } from "@evolver/kernel";
import type { Geometry } from "../geometry.ts";
import { throughShared } from "./shared.ts";
import { byShuffle } from "./shuffle.ts";
import type { UIndex } from "../runs.ts";

export interface Exchange {
  /** Neighbouring keys whose probabilities come with one read. */
  readonly width: 1 | 2 | 4;
  /** Takes what each lane found: [row][slot], for the key of its lane in that slot. */
  publish(probabilities: readonly (readonly F32[])[]): void;
  /** The probabilities of a row for the keys of lanes `lane` to lane + width − 1, the same in all lanes. */
  read(row: number, slot: number, lane: U32): readonly F32[];
  /** After the last read of what was published. */
  release(): void;
}

/** `firstRow` is the subgroup's first row in the tile of queries. */
export type ExchangeMaker = (gpu: Gpu, geometry: Geometry, firstRow: UIndex) => Exchange;

export const exchanges = { shuffle: byShuffle, shared: throughShared } as const satisfies Record<
  string,
  ExchangeMaker
>;
