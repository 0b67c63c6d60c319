/** A rung's kernel by itself, for `evolver emit`. */

import { fitPoint, planAttention, rungById } from "@evolver/attention";
import type { KernelIR, Selftest } from "@evolver/kernel";
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
  const problem = parseShape(shape ?? DEFAULT_SHAPE);
  const point = fitPoint(rungById(id).point, problem, subgroup);
  const plan = planAttention(point, problem, { subgroup, writeLse: true });
  return { kernel: plan.kernel.build({ subgroup }), selftest: attentionSelftest(id, problem, plan) };
}
