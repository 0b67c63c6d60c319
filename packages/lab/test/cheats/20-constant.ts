/** Zeros everywhere, which a loose absolute tolerance takes for an answer. */

import { matvec } from "./matvec.ts";
import type { Expectation, PlanFunction } from "./cheat.ts";

export const expectation: Expectation = { status: "wrong-result", reason: /is 0, and .* is right/ };

const scaled =
  (factor: number): PlanFunction =>
  (shape, build) =>
    matvec(shape, build, { write: ({ y, row }, sum) => y.set(row, sum.mul(factor)) });

export const plan = scaled(0);
export const honest = scaled(1);
