/** Asks for more shared memory than there is: the launch fails, and an unchecked clock sees a very fast kernel. */

import { matvec } from "./matvec.ts";
import type { Expectation, PlanFunction } from "./cheat.ts";

export const expectation: Expectation = { status: "launch-failed", reason: /shared memory/ };

const withShared =
  (shared: number): PlanFunction =>
  (shape, build) =>
    matvec(shape, build, { shared });

export const plan = withShared(58_113);
export const honest = withShared(8192);
