/** The pipeline axis: when the tiles of K and V are copied, by whom, and when they are used. */

import { doubleBuffered } from "./double-buffered.ts";
import type { PipelineAxis } from "./pipeline.ts";
import { ring } from "./ring.ts";
import { PRODUCERS, roles } from "./roles.ts";
import { staggered } from "./staggered.ts";
import { synchronous } from "./synchronous.ts";

export const pipelines = {
  synchronous: { make: synchronous, depths: [1, 1], producers: 0 },
  "double-buffered": { make: doubleBuffered, depths: [2, 2], producers: 0 },
  ring: { make: ring, depths: [1, 4], producers: 0 },
  roles: { make: roles, depths: [1, 4], producers: PRODUCERS },
  staggered: { make: staggered, depths: [1, 1], producers: 0 },
} as const satisfies Record<string, PipelineAxis>;
