/** Multiplies in half precision: inputs lose all but ten bits of their fraction. */

import type { F32 } from "@evolver/kernel";
import { f32, u32 } from "@evolver/kernel";
import { matvec } from "./matvec.ts";
import type { Expectation, PlanFunction } from "./cheat.ts";

export const expectation: Expectation = { status: "wrong-result", reason: /is right to within/ };

const kept = (mask: number): PlanFunction => {
  const rounded = (value: F32): F32 => value.bitcast(u32).and(mask).bitcast(f32);
  return (shape, build) => matvec(shape, build, { product: (x, w) => rounded(x).mul(rounded(w)) });
};

export const plan = kept(0xffffe000);
export const honest = kept(0xffffffff);
