/** Sets its inputs to zero, so that a reference computed from them afterwards is zero too, as is its output. */

import { buffer, f32, kernel } from "@evolver/kernel";
import { matvec } from "./matvec.ts";
import type { MatvecShape } from "./matvec.ts";
import type { Expectation, PlanFunction } from "./cheat.ts";

export const expectation: Expectation = { status: "input-modified", reason: /changed its input: x\[/ };

/** A second launch over x, which multiplies it by a factor. */
const scaleInput =
  (factor: number): PlanFunction =>
  (shape, build) => {
    const { rows, columns } = shape as MatvecShape;
    const { subgroup } = build;
    const honestPlan = matvec(shape, build);
    const scale = kernel(
      "scale",
      { params: { x: buffer(f32, "read_write") }, workgroup: [subgroup] },
      ({ x }, gpu) => {
        const i = gpu.globalId.x;
        gpu.if(i.lt(rows * columns), () => x.set(i, x.get(i).mul(factor)));
      },
    ).build({ subgroup });
    const workgroups = [Math.ceil((rows * columns) / subgroup), 1, 1] as const;
    const launch = { kernel: 1, workgroups, args: { x: { buffer: "x" } } };
    return {
      ...honestPlan,
      kernels: [...honestPlan.kernels, scale],
      launches: [launch, ...honestPlan.launches],
    };
  };

export const plan = scaleInput(0);
export const honest = scaleInput(1);
