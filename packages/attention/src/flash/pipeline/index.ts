/** The pipeline axis: when the tiles of K and V are copied, by whom, and when they are used. */

import { doubleBuffered } from "./double-buffered.ts";
import type { PipelineMaker } from "./pipeline.ts";
import { ring } from "./ring.ts";
import { roles } from "./roles.ts";
import { staggered } from "./staggered.ts";
import { synchronous } from "./synchronous.ts";

export const pipelines = {
  synchronous,
  "double-buffered": doubleBuffered,
  ring,
  roles,
  staggered,
} as const satisfies Record<string, PipelineMaker>;
