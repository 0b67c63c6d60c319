/** A candidate's source as the workspace keeps it: its kernels for every target, its launches, its IR and its point. */

import type { Plan, PlanBuild } from "@evolver/device";
import { emit, emitTargetNames, emitTargets, print, type EmitTarget } from "@evolver/kernel";
import type { SourceFile } from "./open-study.ts";
import type { Point } from "./point.ts";

/** What the files of a candidate are made from. */
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

/**
 * Of a plan of one kernel: its source for each target, its launch, its IR and its point. Where there are several kernels each has files
 * of its own, "kernel-2.cu", and the launches are a list.
 */
export function candidateSources({ point, build, planFor, fits }: CandidateParts): readonly SourceFile[] {
  const { subgroup } = build;
  const { kernels, launches, buffers } = planFor(build);
  const hasWidth = (target: EmitTarget): boolean => {
    const sizes: readonly number[] | null = emitTargets[target].subgroupSizes;
    return sizes === null || sizes.includes(subgroup);
  };
  const numbered = (path: string, index: number): string =>
    index === 0 ? path : path.replace(".", `-${index + 1}.`);
  const targets = emitTargetNames.filter((target) => hasWidth(target) && fits(target));
  const sources = targets.flatMap((target) => {
    const plan = planFor({ subgroup, forwardProgress: emitTargets[target].forwardProgress });
    return plan.kernels.map((ir, i) => ({
      path: numbered(kernelFile(target), i),
      text: emit(ir, target).source,
    }));
  });
  const named = launches.map((launch) => ({ ...launch, kernel: kernels[launch.kernel]?.name }));
  const launching = named.length === 1 ? { ...named[0], buffers } : { launches: named, buffers };
  return [
    ...sources,
    { path: "launch.json", text: `${JSON.stringify(launching, null, 2)}\n` },
    ...kernels.map((ir, i) => ({ path: numbered("kernel.ir.txt", i), text: `${print(ir)}\n` })),
    { path: "point.json", text: `${JSON.stringify(point, null, 2)}\n` },
  ];
}
