/** The sum of a term of each element, in two launches: of each workgroup's part first, then of those. */

import { buffer, f32, kernel, u32, type F32, type Gpu, type U32 } from "@evolver/kernel";
import { sweepAll } from "./sweep.ts";
import { teamOf } from "./team.ts";
import { total, type Reach, type Source, type Writable } from "./vectors.ts";

/** Free choices: how many workgroups there are, and what each invocation has in flight. */
export const totalTune = {
  threads: [128, 256, 512, 1024],
  width: [1, 2, 4],
  loads: [1, 2, 4, 8],
  groups: [256, 512, 1024, 2048, 4096],
} as const;

/** Sets an element per workgroup to what the workgroup adds up. */
export function partialSums(
  gpu: Gpu,
  { n, partial }: { readonly n: U32; readonly partial: Writable },
  reach: Reach,
  termsOf: (read: (from: Source) => readonly F32[]) => readonly F32[],
): void {
  const sum = gpu.var(f32, 0);
  sweepAll(gpu, n, reach, (piece) => sum.add(total(termsOf((from) => piece.read(from)))));
  const all = teamOf(gpu, "workgroup").sum(sum.get());
  gpu.if(gpu.localIndex.eq(0), () => partial.set(gpu.workgroupIndex, all));
}

/** y[0] = the sum of the partial sums, divided. One workgroup. */
export const addUp = kernel(
  "addUp",
  {
    params: { partial: buffer(f32), y: buffer(f32, "write"), groups: u32, divisor: f32 },
    workgroup: [256],
  },
  ({ partial, y, groups, divisor }, gpu) => {
    const sum = gpu.var(f32, 0);
    gpu.for({ from: gpu.localIndex, to: groups, step: 256 }, (i) => sum.add(partial.get(i)));
    const all = teamOf(gpu, "workgroup").sum(sum.get());
    gpu.if(gpu.localIndex.eq(0), () => y.set(0, all.div(divisor)));
  },
);
