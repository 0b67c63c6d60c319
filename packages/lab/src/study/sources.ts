/** A candidate's source as the workspace keeps it: its kernels for every target, its launches, its IR and its point. */

import type { Plan, PlanBuild } from "@evolver/device";
import { emit, print, targetForwardProgress, type EmitTarget } from "@evolver/kernel";
import type { SourceFile } from "./open-study.ts";
import type { Point } from "./point.ts";

const EXTENSIONS: Readonly<Record<EmitTarget, string>> = { js: "js", wgsl: "wgsl", cuda: "cu", hip: "hip" };
/** Widths that a target has, where it has not all. */
const SUBGROUPS: Partial<Record<EmitTarget, readonly number[]>> = { cuda: [32], hip: [32, 64] };

export interface CandidateParts {
  readonly point: Point;
  /** What the device that it was timed on builds it for. */
  readonly build: PlanBuild;
  /** The candidate's plan, whose kernels may differ where subgroups cannot wait. */
  planFor(build: PlanBuild): Plan;
  /** Whether the candidate can be built for a target. */
  fits(target: EmitTarget): boolean;
}

/** Of a plan of one kernel. */
export function candidateSources({ point, build, planFor, fits }: CandidateParts): readonly SourceFile[] {
  const { subgroup } = build;
  const { kernels, launches, buffers } = planFor(build);
  const [ir] = kernels;
  if (ir === undefined) return [];
  const sourceFor = (target: EmitTarget): string => {
    const plan = planFor({ subgroup, forwardProgress: targetForwardProgress(target) });
    return emit(plan.kernels[0] ?? ir, target).source;
  };
  const targets = (Object.keys(EXTENSIONS) as EmitTarget[]).filter(
    (target) => (SUBGROUPS[target]?.includes(subgroup) ?? true) && fits(target),
  );
  return [
    ...targets.map((target) => ({ path: `kernel.${EXTENSIONS[target]}`, text: sourceFor(target) })),
    {
      path: "launch.json",
      text: `${JSON.stringify({ ...launches[0], kernel: ir.name, buffers }, null, 2)}\n`,
    },
    { path: "kernel.ir.txt", text: `${print(ir)}\n` },
    { path: "point.json", text: `${JSON.stringify(point, null, 2)}\n` },
  ];
}
