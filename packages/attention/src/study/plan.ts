/** From a point of the strategy space to the plan that the judge runs. */

import {
  elementCount,
  extentsOf,
  planAttention,
  type AttentionProblem,
  type FlashPoint,
} from "@evolver/attention";
import type { Device } from "@evolver/device";
import type { Plan, PlanBuild } from "@evolver/lab";

/** What kernels for a device are built for. */
export const buildOf = ({ subgroupSize, forwardProgress }: Device): PlanBuild => ({
  subgroup: subgroupSize,
  forwardProgress,
});

/** The candidate's plan: one kernel, one launch, o and lse written, and what scratch the kernel keeps. */
export function attentionPlan(point: FlashPoint, problem: AttentionProblem, build: PlanBuild): Plan {
  const { kernel, workgroups, scalars, scratch } = planAttention(point, problem, {
    subgroup: build.subgroup,
    writeLse: true,
  });
  const { q, k, v, o } = extentsOf(problem.shape);
  const { batch, headsQ, seqQ } = problem.shape;
  const buffer = (name: string, role: "input" | "output", length: number) => ({
    name,
    role,
    element: "f32" as const,
    length,
  });
  const names = ["q", "k", "v", "o", "lse", ...scratch.map(({ name }) => name)];
  return {
    kernels: [kernel.build(build)],
    buffers: [
      buffer("q", "input", elementCount(q)),
      buffer("k", "input", elementCount(k)),
      buffer("v", "input", elementCount(v)),
      buffer("o", "output", elementCount(o)),
      buffer("lse", "output", batch * headsQ * seqQ),
      ...scratch.map((each) => ({ ...each, role: "scratch" as const, zeroed: "once" as const })),
    ],
    launches: [
      {
        kernel: 0,
        workgroups: [workgroups, 1, 1],
        args: { ...scalars, ...Object.fromEntries(names.map((name) => [name, { buffer: name }])) },
      },
    ],
  };
}
