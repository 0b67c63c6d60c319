/** A candidate's source as the workspace keeps it: its kernels for every target, its launches, its IR and its point. */

import type { Plan, PlanBuild } from "@evolver/device";
import { emit, emitTargetNames, emitTargets, print, type EmitTarget } from "@evolver/kernel";
import type { SourceFile } from "./open-study.ts";
import type { Point } from "./point.ts";

export interface CandidateParts {
  readonly point: Point;
  /** What the device that it was timed on builds it for. */
  readonly build: PlanBuild;
  /** The candidate's plan, whose kernels may differ where subgroups cannot wait. */
  planFor(build: PlanBuild): Plan;
  /** Whether the candidate can be built for a target. */
  fits(target: EmitTarget): boolean;
}

/** The name of a kernel's source for a target, among a candidate's sources. */
export const kernelFile = (target: EmitTarget): string => `kernel.${emitTargets[target].extension}`;

/** Of a plan of one kernel. */
export function candidateSources({ point, build, planFor, fits }: CandidateParts): readonly SourceFile[] {
  const { subgroup } = build;
  const { kernels, launches, buffers } = planFor(build);
  const [ir] = kernels;
  if (ir === undefined) return [];
  const sourceFor = (target: EmitTarget): string => {
    const plan = planFor({ subgroup, forwardProgress: emitTargets[target].forwardProgress });
    return emit(plan.kernels[0] ?? ir, target).source;
  };
  const hasWidth = (target: EmitTarget): boolean => {
    const sizes: readonly number[] | null = emitTargets[target].subgroupSizes;
    return sizes === null || sizes.includes(subgroup);
  };
  const targets = emitTargetNames.filter((target) => hasWidth(target) && fits(target));
  return [
    ...targets.map((target) => ({
      path: kernelFile(target),
      text: sourceFor(target),
    })),
    {
      path: "launch.json",
      text: `${JSON.stringify({ ...launches[0], kernel: ir.name, buffers }, null, 2)}\n`,
    },
    { path: "kernel.ir.txt", text: `${print(ir)}\n` },
    { path: "point.json", text: `${JSON.stringify(point, null, 2)}\n` },
  ];
}
