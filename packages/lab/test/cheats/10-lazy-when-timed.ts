/** Works on its first two runs, when one checks; then, when one times, it writes what costs nothing. */

import { counting } from "./counting.ts";
import type { Expectation } from "./cheat.ts";

export const expectation: Expectation = { status: "wrong-result", reason: /when run again/ };

const lazyFrom = (first: number) =>
  counting(({ gpu, y, row }, run, work) => {
    gpu.if(run.lt(first), work, () => gpu.if(gpu.lane.eq(0), () => y.set(row, 0)));
  });

export const plan = lazyFrom(2);
export const honest = lazyFrom(1e6);
