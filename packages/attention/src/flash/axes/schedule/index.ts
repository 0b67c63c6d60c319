/** The schedule axis: which workgroup computes which tiles of query rows, and in which order. */

import { oneWorkgroupATile } from "./one-workgroup-a-tile.ts";
import { persistent } from "./persistent.ts";
import type { Schedule } from "./schedule.ts";

export const schedules = {
  "one workgroup a tile": oneWorkgroupATile,
  persistent,
} as const satisfies Record<string, Schedule>;
