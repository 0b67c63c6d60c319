/** Gives NaN, with which every comparison is false, also "the error is too large". */

import { matvec } from "./matvec.ts";
import type { Expectation, PlanFunction } from "./cheat.ts";

export const expectation: Expectation = { status: "wrong-result", reason: /is NaN/ };

const divided =
  (divisor: number): PlanFunction =>
  (shape, build) =>
    matvec(shape, build, { write: ({ y, row }, sum) => y.set(row, sum.sub(sum).div(divisor).add(sum)) });

export const plan = divided(0);
export const honest = divided(1);
