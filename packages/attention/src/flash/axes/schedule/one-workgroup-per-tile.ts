import type { Schedule } from "./schedule.ts";

/** As many workgroups as tiles, in the order of the tiles; the linear index has no limit on any axis of the grid. */
export const oneWorkgroupPerTile: Schedule = {
  sharedBytes: 0,
  scratch: [],
  scalars: () => ({}),
  workgroups: (tiles) => tiles,
  forEachTile: (gpu, _symbols, _longestFirst, compute) => compute(gpu.workgroupIndex),
};
