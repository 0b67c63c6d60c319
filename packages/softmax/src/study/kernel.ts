/** A kernel by itself, of a rung or of any point, with a self-test, for `evolver emit`. */

import { assertNever } from "@evolver/base";
import { findRung } from "@evolver/device";
import { emitTargets, type KernelIR } from "@evolver/kernel";
import type { KernelRequest, StudyKernel } from "@evolver/lab";
import { fitPoint, namedRungs, rowPlan, type RowPoint } from "@evolver/softmax";
import { parseProblem } from "./input.ts";
import { targetLimits } from "./limits.ts";
import { rowSelftest } from "./selftest.ts";

/** @throws EvolverError UNKNOWN_RUNG, INVALID_POINT */
export function rowKernelOf({ candidate, input, target, subgroup }: KernelRequest): StudyKernel {
  const problem = parseProblem(input);
  const [title, wanted] = named(candidate);
  const point = fitPoint(wanted, problem, subgroup, targetLimits(target));
  const build = { subgroup, forwardProgress: emitTargets[target].forwardProgress };
  const { kernels, launches } = rowPlan(point, problem, build);
  return {
    kernel: kernels[0] as KernelIR,
    selftest: rowSelftest(title, problem, launches[0]?.workgroups ?? [0, 1, 1]),
  };
}

function named(candidate: KernelRequest["candidate"]): [title: string, point: RowPoint] {
  switch (candidate.kind) {
    case "rung":
      return [candidate.id, findRung(namedRungs, candidate.id).point];
    case "point":
      return [candidate.title, candidate.point as RowPoint];
    default:
      return assertNever(candidate, "candidate");
  }
}
