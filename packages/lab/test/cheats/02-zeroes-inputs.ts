/** Sets its inputs to zero, so that a reference computed from them afterwards is zero too, as is its output. */

import { buffer, f32, kernel } from "@evolver/kernel";
import { matvec } from "./matvec.ts";
import type { MatvecShape } from "./matvec.ts";
import type { Expectation, PlanFunction } from "./cheat.ts";

export const expectation: Expectation = { status: "invalid", reason: /of zero writes the input x/ };

/** A first launch that sets a buffer of x's length to zero. */
const zeroed =
  (name: string): PlanFunction =>
  (shape, build) => {
    const { rows, columns } = shape as MatvecShape;
    const { subgroup } = build;
    const honestPlan = matvec(shape, build);
    const zero = kernel(
      "zero",
      { params: { x: buffer(f32, "read_write") }, workgroup: [subgroup] },
      ({ x }, gpu) => {
        const i = gpu.globalId.x;
        gpu.if(i.lt(rows * columns), () => x.set(i, 0));
      },
    ).build({ subgroup });
    const workgroups = [Math.ceil((rows * columns) / subgroup), 1, 1] as const;
    const launch = { kernel: 1, workgroups, args: { x: { buffer: name } } };
    const scratch = { name: "own", role: "scratch", element: "f32", length: rows * columns } as const;
    return {
      kernels: [...honestPlan.kernels, zero],
      buffers: [...honestPlan.buffers, scratch],
      launches: [launch, ...honestPlan.launches],
    };
  };

export const plan = zeroed("x");
export const honest = zeroed("own");
