/**
 * y[0] = the sum of all elements.
 *
 * `groups` workgroups go through x with `loads` vectors of `width` in flight in each invocation; a second, small launch adds
 * up what they have come to. Each addition is in the shape of a tree, so the sum of many elements keeps its digits.
 */

import { buildPlan, tunable } from "@evolver/device";
import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import { addUp, partialSums, totalTune } from "./support/total.ts";

const { groups: _, ...partTune } = totalTune;

const partialSum = kernel(
  "partialSum",
  {
    params: { x: buffer(f32), partial: buffer(f32, "write"), n: u32 },
    tune: partTune,
    workgroup: ({ tune }) => [tune.threads],
  },
  ({ x, partial, n }, gpu, choices) => partialSums(gpu, { n, partial }, choices, (read) => read(x)),
);

export const sum = tunable("sum", {
  sizes: { n: 1 << 26 },
  tune: totalTune,
  variants: {
    fast: { threads: 256, width: 4, loads: 8, groups: 2048 },
    resident: { threads: 512, width: 4, loads: 8, groups: 512 },
    many: { threads: 256, width: 4, loads: 4, groups: 4096 },
  },
  plan: ({ n }, { groups, ...choices }, build) =>
    buildPlan(build)
      .input("x", f32, n)
      .output("y", f32, 1)
      .scratch("partial", f32, groups)
      .launch(partialSum.at(choices), { workgroups: groups, args: { x: "x", partial: "partial", n } })
      .launch(addUp, { workgroups: 1, args: { partial: "partial", y: "y", groups, divisor: 1 } })
      .done(),
  // Without rounding: how much a sum rounds depends on the order, which is free. In this one, signs may cancel by luck.
  reference: ({ x }) => ({ y: [x.reduce((all, value) => all + value, 0)] }),
  work: ({ n }) => ({ flops: n }),
});
