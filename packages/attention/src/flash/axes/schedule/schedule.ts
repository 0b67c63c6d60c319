/** The schedule axis: which workgroup computes which tiles of query rows, and in which order. */

import type { Gpu, U32 } from "@evolver/kernel";
import type { AttentionShape } from "../../../problem.ts";
import type { FlashSymbols } from "../../params.ts";

/** The tiles of a problem: `headTiles` for each of so many heads, head by head. */
export interface Tiling {
  readonly shape: AttentionShape;
  readonly heads: number;
  readonly headTiles: number;
}

/** A buffer that the kernel keeps for itself: zero before the first launch, and again after each. */
export interface ScratchBuffer {
  readonly name: "tiles";
  readonly element: "u32";
  readonly length: number;
}

export interface Schedule {
  /** Shared memory that it takes. */
  readonly sharedBytes: number;
  readonly scratch: readonly ScratchBuffer[];
  /** Arguments that its kernels have besides the common ones. */
  scalars(tiling: Tiling): Readonly<Record<string, number>>;
  /** Workgroups to launch for a number of tiles, where `most` would keep the device busy. */
  workgroups(tiles: number, most: number): number;
  /**
   * Records the computation of all tiles of a workgroup. Shared memory may be reused from one to the next.
   *
   * @param longestFirst whether later tiles of a head take longer, and should start first
   */
  forEachTile(gpu: Gpu, symbols: FlashSymbols, longestFirst: boolean, compute: (tile: U32) => void): void;
}
