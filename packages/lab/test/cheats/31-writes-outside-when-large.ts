/** Writes beyond its output on large inputs only, which are run where nothing watches every access. */

import { matvec } from "./matvec.ts";
import type { Expectation, PlanFunction } from "./cheat.ts";

export const expectation: Expectation = {
  status: "out-of-bounds-write",
  reason: /y\[4\d\], beyond the 40 elements/,
};

const spilling =
  (from: number): PlanFunction =>
  (shape, build) =>
    matvec(shape, build, {
      write({ gpu, y, row, shape: { rows } }, sum) {
        y.set(row, sum);
        if (rows > from) gpu.if(row.lt(4), () => y.set(row.add(rows), sum));
      },
    });

export const plan = spilling(20);
export const honest = spilling(1e6);
