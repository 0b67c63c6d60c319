/** A rung's kernel by itself, for `evolver emit`. */

import { fitPoint, planAttention, rungById } from "@evolver/attention";
import type { KernelIR } from "@evolver/kernel";
import { DEFAULT_SHAPE } from "./input.ts";
import { parseShape } from "./shape.ts";

/** @throws EvolverError UNKNOWN_RUNG, SHAPE_INVALID, INVALID_POINT */
export function attentionRungKernel(id: string, subgroup: number, shape: string | null): KernelIR {
  const problem = parseShape(shape ?? DEFAULT_SHAPE);
  const point = fitPoint(rungById(id).point, problem, subgroup);
  return planAttention(point, problem, { subgroup, writeLse: true }).kernel.build({ subgroup });
}
