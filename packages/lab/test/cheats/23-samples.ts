/** Sums every second element and doubles the result. */

import { matvec } from "./matvec.ts";
import type { Expectation, PlanFunction } from "./cheat.ts";

export const expectation: Expectation = { status: "wrong-result", reason: /is right to within/ };

const sampling =
  (every: number): PlanFunction =>
  (shape, build) =>
    matvec(shape, build, {
      columns: (step) => [0, step.shape.columns, every],
      write: ({ y, row }, sum) => y.set(row, sum.mul(every)),
    });

export const plan = sampling(2);
export const honest = sampling(1);
