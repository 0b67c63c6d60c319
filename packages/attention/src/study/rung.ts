/** A kernel by itself, of a rung or of any point, for `evolver emit`. */

import { fitPoint, planAttention, rungById, targetLimits, type FlashPoint } from "@evolver/attention";
import { targetForwardProgress, type EmitTarget, type KernelIR, type Selftest } from "@evolver/kernel";
import type { Point } from "@evolver/lab";
import { DEFAULT_SHAPE } from "./input.ts";
import { attentionSelftest } from "./selftest.ts";
import { parseShape } from "./shape.ts";

/** What a kernel is emitted for. */
export interface RungBuild {
  readonly target: EmitTarget;
  readonly subgroup: number;
}

export interface RungKernel {
  readonly kernel: KernelIR;
  /** A launch of it on the shape, with a judge. */
  readonly selftest: Selftest;
}

/** The kernel of a rung, made to fit the shape and the target. @throws EvolverError UNKNOWN_RUNG, SHAPE_INVALID, INVALID_POINT */
export function attentionRungKernel(id: string, build: RungBuild, shape: string | null): RungKernel {
  const text = shape ?? DEFAULT_SHAPE;
  const limits = targetLimits(build.target);
  const point = fitPoint(rungById(id).point, parseShape(text), build.subgroup, limits);
  return attentionPointKernel(id, point, build, text);
}

/** The kernel of any point, such as a champion's. @throws EvolverError SHAPE_INVALID, INVALID_POINT */
export function attentionPointKernel(
  title: string,
  point: Point,
  { target, subgroup }: RungBuild,
  shape: string,
): RungKernel {
  const problem = parseShape(shape);
  const plan = planAttention(point as FlashPoint, problem, { subgroup, writeLse: true });
  return {
    kernel: plan.kernel.build({ subgroup, forwardProgress: targetForwardProgress(target) }),
    selftest: attentionSelftest(title, problem, plan),
  };
}
