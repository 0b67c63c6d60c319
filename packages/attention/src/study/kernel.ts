/** A kernel by itself, of a rung or of any point, for `evolver emit`. */

import { fitPoint, planAttention, rungById, targetLimits, type FlashPoint } from "@evolver/attention";
import { assertNever } from "@evolver/base";
import { emitTargets } from "@evolver/kernel";
import type { KernelRequest, StudyKernel } from "@evolver/lab";
import type { AttentionInput } from "./input.ts";
import { attentionSelftest } from "./selftest.ts";
import { parseShape } from "./shape.ts";

/** A rung is made to fit the shape and the target. @throws EvolverError UNKNOWN_RUNG, INVALID_POINT */
export function attentionKernel({ candidate, input, target, subgroup }: KernelRequest): StudyKernel {
  const problem = parseShape((input as unknown as AttentionInput).shape);
  const [title, point] = pointOf();
  const plan = planAttention(point, problem, { subgroup, writeLse: true });
  return {
    kernel: plan.kernel.build({ subgroup, forwardProgress: emitTargets[target].forwardProgress }),
    selftest: attentionSelftest(title, problem, plan),
  };

  function pointOf(): [title: string, point: FlashPoint] {
    switch (candidate.kind) {
      case "rung": {
        const { point: own } = rungById(candidate.id);
        return [candidate.id, fitPoint(own, problem, subgroup, targetLimits(target))];
      }
      case "point":
        return [candidate.title, candidate.point as FlashPoint];
      default:
        return assertNever(candidate, "candidate");
    }
  }
}
