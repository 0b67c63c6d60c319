/**
 * The exchange axis: scores are computed with a lane for each key, outputs with a lane for each column, so every lane
 * needs the probabilities that the others of its row found.
 */

import { throughShared } from "./shared.ts";
import { byShuffle } from "./shuffle.ts";
import type { ExchangeMaker } from "./exchange.ts";

export const exchanges = { shuffle: byShuffle, shared: throughShared } as const satisfies Record<
  string,
  ExchangeMaker
>;
