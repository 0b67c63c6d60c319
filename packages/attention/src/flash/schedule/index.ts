/** The schedule axis: which workgroup computes which tiles of query rows. */

import type { Gpu, U32 } from "@evolver/kernel";
import { oneWorkgroupATile } from "./one-workgroup-a-tile.ts";

export interface Schedule {
  /** Workgroups to launch for a number of tiles. */
  workgroups(tiles: number): number;
  /** Records the computation of all tiles of a workgroup. */
  forEachTile(gpu: Gpu, compute: (tile: U32) => void): void;
}

export const schedules = { "one workgroup a tile": oneWorkgroupATile } as const satisfies Record<
  string,
  Schedule
>;
