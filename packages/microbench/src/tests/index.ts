/** The tests of the suite, in the order in which they run. */

import { arithmetic } from "./arithmetic.ts";
import { chases } from "./chase.ts";
import { launches } from "./launch.ts";
import { sharedMemory } from "./shared.ts";
import { streams } from "./streams.ts";
import type { Test } from "../test.ts";

export const tests: readonly Test[] = [streams, chases, sharedMemory, arithmetic, launches];
