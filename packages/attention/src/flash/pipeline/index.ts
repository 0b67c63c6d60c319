/** The pipeline axis: when the tiles of K and V are copied, and when they are used. */

import type { Gpu, U32 } from "@evolver/kernel";
import type { Stage, Tile } from "../stage/index.ts";
import { synchronous } from "./synchronous.ts";
import type { UIndex } from "../runs.ts";

/** Keys from `from` on, before `to`; the same for the whole workgroup. */
export interface KeyRange {
  readonly from: UIndex;
  readonly to: U32;
}

/** Walks the range tile by tile; each is in place, for all invocations, while `use` works with it. */
export type Pipeline = (gpu: Gpu, stage: Stage, range: KeyRange, use: (tile: Tile) => void) => void;

export const pipelines = { synchronous } as const satisfies Record<string, Pipeline>;
