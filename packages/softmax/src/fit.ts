/** What a point comes to on a problem, and whether it fits there. */

import { EvolverError } from "@evolver/base";
import { emitTargets } from "@evolver/kernel";
import { axes, type RowPoint } from "./point.ts";
import type { RowProblem } from "./problem.ts";

/** What a device gives a workgroup and a launch. */
export interface RowLimits {
  readonly invocations: number;
  readonly workgroups: number;
}

/** What every device of ours gives: WebGPU's least, and on one axis no more workgroups than it counts. */
export const DEFAULT_LIMITS: RowLimits = Object.freeze({
  invocations: emitTargets.wgsl.workgroup.invocations,
  workgroups: 65_535,
});

/** Elements of a row that an invocation keeps in registers at most, with room for what it computes. */
const MOST_HELD = 64;

/** How a kernel divides a row among lanes. */
export interface Geometry {
  /** Elements that a read takes: as many as the point says, or what divides the columns. */
  readonly vector: 1 | 2 | 4;
  /** Lanes that share a row. */
  readonly lanes: number;
  /** Reads that each of them makes of it. */
  readonly steps: number;
  /** Whether its last read may lie beyond the row. */
  readonly ragged: boolean;
  readonly invocations: number;
  readonly rowsPerWorkgroup: number;
}

/** The geometry of a point's kernel, for a problem and a subgroup width. */
export function geometryOf(point: RowPoint, { columns }: RowProblem, subgroup: number): Geometry {
  let vector = point.vector;
  while (columns % vector !== 0) vector /= 2;
  const lanes = point.reader === "subgroup" ? subgroup : 1;
  const invocations = point.subgroups * subgroup;
  return {
    vector: vector as 1 | 2 | 4,
    lanes,
    steps: Math.ceil(columns / (lanes * vector)),
    ragged: columns % (lanes * vector) !== 0,
    invocations,
    rowsPerWorkgroup: invocations / lanes,
  };
}

/** Why the point can't be built for the problem, in one sentence; null if it can. */
export function checkPoint(
  point: RowPoint,
  problem: RowProblem,
  subgroup: number,
  limits: RowLimits = DEFAULT_LIMITS,
): string | null {
  for (const { name, values } of axes)
    if (!(values as readonly unknown[]).includes(point[name]))
      return `${name} is ${point[name]}, and must be one of ${values.join(", ")}.`;
  const { invocations, rowsPerWorkgroup, steps, vector } = geometryOf(point, problem, subgroup);
  if (invocations > limits.invocations)
    return `A workgroup would have ${invocations} invocations, more than ${limits.invocations}.`;
  const workgroups = Math.ceil(problem.rows / rowsPerWorkgroup);
  if (workgroups > limits.workgroups)
    return `There would be ${workgroups} workgroups, more than ${limits.workgroups}.`;
  if (point.passes === "one" && steps * vector > MOST_HELD)
    return `An invocation would keep ${steps * vector} elements in registers, more than ${MOST_HELD}.`;
  return null;
}

/** The point with smaller workgroups where it does not fit otherwise. @throws EvolverError INVALID_POINT where nothing helps */
export function fitPoint(
  point: RowPoint,
  problem: RowProblem,
  subgroup: number,
  limits: RowLimits = DEFAULT_LIMITS,
): RowPoint {
  let fitted = point;
  while (geometryOf(fitted, problem, subgroup).invocations > limits.invocations && fitted.subgroups > 1)
    fitted = { ...fitted, subgroups: fitted.subgroups / 2 };
  const why = checkPoint(fitted, problem, subgroup, limits);
  if (why === null) return fitted;
  throw new EvolverError("INVALID_POINT", `no kernel can be made for ${JSON.stringify(point)}: ${why}`, {
    hint: "choose other values for its axes, or fewer rows or columns",
  });
}
