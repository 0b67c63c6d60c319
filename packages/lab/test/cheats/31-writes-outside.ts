/** Writes its result a second time beyond the end of the output, over whatever lies there. */

import { matvec } from "./matvec.ts";
import type { Expectation, PlanFunction } from "./cheat.ts";

export const expectation: Expectation = { status: "out-of-bounds-write", reason: /y/ };

const twice =
  (distance: (rows: number) => number): PlanFunction =>
  (shape, build) =>
    matvec(shape, build, {
      write({ y, row, shape: { rows } }, sum) {
        y.set(row, sum);
        y.set(row.add(distance(rows)), sum);
      },
    });

export const plan = twice((rows) => rows);
export const honest = twice(() => 0);
