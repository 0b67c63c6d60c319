/**
 * y[0] = the mean Huber loss of x against t: half the square of differences below 1, and |difference| − ½ beyond.
 *
 * `groups` workgroups go through both with `loads` vectors of `width` in flight in each invocation; a second, small launch adds up
 * what they have come to.
 */

import { buildPlan, tunable } from "@evolver/device";
import { abs, buffer, f32, kernel, min, u32, type F32 } from "@evolver/kernel";
import { addUp, partialSums, totalTune } from "./support/total.ts";

const { groups: _, ...partTune } = totalTune;

/** Without a branch: with c = min(|d|, 1), the loss is c·(|d| − c/2). */
function huber(x: F32, t: F32): F32 {
  const distance = abs(x.sub(t));
  const clipped = min(distance, 1);
  return clipped.mul(distance.sub(clipped.mul(0.5)));
}

const partialHuber = kernel(
  "partialHuber",
  {
    params: { x: buffer(f32), t: buffer(f32), partial: buffer(f32, "write"), n: u32 },
    tune: partTune,
    workgroup: ({ tune }) => [tune.threads],
  },
  ({ x, t, partial, n }, gpu, choices) =>
    partialSums(gpu, { n, partial }, choices, (read) => {
      const [values, targets] = [read(x), read(t)];
      return values.map((value, k) => huber(value, targets[k] as F32));
    }),
);

export const huberLoss = tunable("huberLoss", {
  sizes: { n: 1 << 25 },
  tune: totalTune,
  variants: {
    fast: { threads: 256, width: 4, loads: 4, groups: 2048 },
    resident: { threads: 512, width: 4, loads: 4, groups: 512 },
    many: { threads: 256, width: 4, loads: 4, groups: 4096 },
  },
  plan: ({ n }, { groups, ...choices }, build) =>
    buildPlan(build)
      .input("x", f32, n)
      .input("t", f32, n)
      .output("y", f32, 1)
      .scratch("partial", f32, groups)
      .launch(partialHuber.at(choices), {
        workgroups: groups,
        args: { x: "x", t: "t", partial: "partial", n },
      })
      .launch(addUp, { workgroups: 1, args: { partial: "partial", y: "y", groups, divisor: n } })
      .done(),
  reference({ x, t }, { n }, round) {
    const sum = x.reduce((all, value, i) => {
      const distance = Math.abs(round(value - (t[i] as number)));
      const loss = distance < 1 ? round(0.5 * round(distance * distance)) : round(distance - 0.5);
      return round(all + loss);
    }, 0);
    return { y: [round(sum / n)] };
  },
  work: ({ n }) => ({ flops: 5 * n }),
});
