/** An attention problem and a point of the strategy space as a plan: one launch that any device can be given. */

import type { Plan, PlanBuild, PlanBuffer } from "@evolver/device";
import { planAttention, type PlanOptions } from "./flash/plan.ts";
import type { FlashPoint } from "./flash/space.ts";
import type { AttentionProblem } from "./problem.ts";
import { extentsOf, spanOf } from "./tensor.ts";

/** What an attention plan's buffers hold. */
// oxlint-disable-next-line typescript/consistent-type-definitions
export type AttentionBufferTypes = {
  readonly q: "f32";
  readonly k: "f32";
  readonly v: "f32";
  readonly o: "f32";
  readonly lse: "f32";
};

/** What `attentionPlan` builds for. */
export interface AttentionPlanOptions
  extends PlanBuild, Pick<PlanOptions, "machine" | "persistentWorkgroups" | "keys"> {
  /** Whether the logarithms of the sums are written (the default); if not, `lse` is scratch of one element. */
  readonly writeLse?: boolean;
}

/**
 * The plan of a point: inputs q, k and v, outputs o and lse, and the kernel's scratch. Each buffer is as long as the
 * problem's strides need.
 *
 * @throws what `planAttention` throws
 */
export function attentionPlan(
  point: FlashPoint,
  problem: AttentionProblem,
  { subgroup, forwardProgress, writeLse = true, machine, persistentWorkgroups, keys }: AttentionPlanOptions,
): Plan<AttentionBufferTypes> {
  const own = { subgroup, writeLse, machine, persistentWorkgroups, keys };
  const { kernel, workgroups, scalars, scratch } = planAttention(point, problem, own);
  const { batch, headsQ, seqQ } = problem.shape;
  const extents = extentsOf(problem.shape);
  const tensor = (name: "q" | "k" | "v" | "o", role: PlanBuffer["role"]): PlanBuffer => ({
    name,
    role,
    element: "f32",
    length: spanOf(extents[name], problem.strides[name]),
  });
  const lse: PlanBuffer = writeLse
    ? { name: "lse", role: "output", element: "f32", length: batch * headsQ * seqQ }
    : { name: "lse", role: "scratch", element: "f32", length: 1 };
  const buffers: readonly PlanBuffer[] = [
    ...(["q", "k", "v"] as const).map((name) => tensor(name, "input")),
    tensor("o", "output"),
    lse,
    ...scratch.map((each) => ({ ...each, role: "scratch" as const, zeroed: "once" as const })),
  ];
  const args = Object.fromEntries(buffers.map(({ name }) => [name, { buffer: name }]));
  return {
    kernels: [kernel.build({ subgroup, forwardProgress })],
    buffers,
    launches: [{ kernel: 0, workgroups: [workgroups, 1, 1], args: { ...scalars, ...args } }],
  };
}
