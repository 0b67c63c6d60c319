/** The schedule axis: which workgroup computes which tiles of query rows, and in which order. */

import { oneWorkgroupPerTile } from "./one-workgroup-per-tile.ts";
import { persistent } from "./persistent.ts";
import type { Schedule } from "./schedule.ts";

export const schedules = {
  "one workgroup per tile": oneWorkgroupPerTile,
  persistent,
} as const satisfies Record<string, Schedule>;
