/** The tests of the suite, in the order in which they run. */

import type { Test } from "../benchmark.ts";
import { arithmetic } from "./arithmetic.ts";
import { atomics } from "./atomics.ts";
import { barriers } from "./barriers.ts";
import { chases } from "./chase.ts";
import { copies } from "./copies.ts";
import { launches } from "./launch.ts";
import { occupancy } from "./occupancy.ts";
import { patterns } from "./patterns.ts";
import { sharedMemory } from "./shared.ts";
import { streams } from "./streams.ts";

export const tests: readonly Test[] = [
  streams,
  patterns,
  occupancy,
  chases,
  sharedMemory,
  arithmetic,
  barriers,
  copies,
  atomics,
  launches,
];
