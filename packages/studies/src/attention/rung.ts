/** A kernel by itself, of a rung or of any point, for `evolver emit`. */

import { fitPoint, planAttention, rungById, type FlashPoint } from "@evolver/attention";
import type { KernelIR, Selftest } from "@evolver/kernel";
import type { Point } from "@evolver/lab";
import { DEFAULT_SHAPE } from "./input.ts";
import { attentionSelftest } from "./selftest.ts";
import { parseShape } from "./shape.ts";

export interface RungKernel {
  readonly kernel: KernelIR;
  /** A launch of it on the shape, with a judge. */
  readonly selftest: Selftest;
}

/** @throws EvolverError UNKNOWN_RUNG, SHAPE_INVALID, INVALID_POINT */
export function attentionRungKernel(id: string, subgroup: number, shape: string | null): RungKernel {
  const text = shape ?? DEFAULT_SHAPE;
  const point = fitPoint(rungById(id).point, parseShape(text), subgroup);
  return attentionPointKernel(id, point, subgroup, text);
}

/** The kernel of any point, such as a champion's. @throws EvolverError SHAPE_INVALID, INVALID_POINT */
export function attentionPointKernel(
  title: string,
  point: Point,
  subgroup: number,
  shape: string,
): RungKernel {
  const problem = parseShape(shape);
  const plan = planAttention(point as FlashPoint, problem, { subgroup, writeLse: true });
  return { kernel: plan.kernel.build({ subgroup }), selftest: attentionSelftest(title, problem, plan) };
}
