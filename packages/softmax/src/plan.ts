/** From a point and a problem to a plan: one kernel, one launch, y written. */

import { buildPlan, type Plan, type PlanBuild } from "@evolver/device";
import { f32, type Kernel } from "@evolver/kernel";
import { checkPoint, fitPoint, geometryOf } from "./fit.ts";
import { rowKernel, type RowParams } from "./kernel.ts";
import type { RowPoint } from "./point.ts";
import type { RowProblem } from "./problem.ts";

const kernels = new Map<string, Kernel<RowParams>>();

/** @throws EvolverError INVALID_POINT where it cannot be built for the problem */
export function rowPlan(point: RowPoint, problem: RowProblem, build: PlanBuild): Plan {
  const unlimited = { invocations: Infinity, workgroups: Infinity };
  if (checkPoint(point, problem, build.subgroup, unlimited) !== null)
    fitPoint(point, problem, build.subgroup, unlimited);
  const { rows, columns } = problem;
  const { rowsPerWorkgroup } = geometryOf(point, problem, build.subgroup);
  return buildPlan(build)
    .input("x", f32, rows * columns)
    .output("y", f32, rows * columns)
    .launch(kernelOf(point, problem), {
      workgroups: Math.ceil(rows / rowsPerWorkgroup),
      args: { x: "x", y: "y", rows },
    })
    .done();
}

/** Kernels of equal code are one and the same, whatever the number of rows. */
function kernelOf(point: RowPoint, problem: RowProblem): Kernel<RowParams> {
  const key = JSON.stringify([Object.entries(point).toSorted(), problem.operation, problem.columns]);
  let found = kernels.get(key);
  if (found === undefined) kernels.set(key, (found = rowKernel(point, problem)));
  return found;
}
