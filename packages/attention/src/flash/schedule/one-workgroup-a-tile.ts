import type { Schedule } from "./index.ts";

/** As many workgroups as tiles, in the order of the tiles; the linear index has no limit on any axis of the grid. */
export const oneWorkgroupATile: Schedule = {
  workgroups: (tiles) => tiles,
  forEachTile: (gpu, compute) => compute(gpu.workgroupIndex),
};
