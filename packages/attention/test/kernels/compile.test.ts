/** Every rung and its variants go through the compilers of every target, for all that they are compiled for, without a warning. */

import { denseProblemStrides, fitPoint, ladder, planAttention, targetLimits } from "@evolver/attention";
import type { AttentionProblem } from "@evolver/attention";
import type { Kernel } from "@evolver/kernel";
import { inFull } from "../../../../test/support/full.ts";
import { throughCompilers, type Build } from "../../../../test/support/through-compilers.ts";

const shape = { batch: 2, headsQ: 4, headsKv: 2, seqQ: 100, seqK: 130, dim: 64 };
const plain: AttentionProblem = {
  shape,
  mask: { kind: "causal" },
  scale: 0.125,
  softcap: 0,
  strides: denseProblemStrides(shape),
};
const odd = { ...shape, dim: 80 };
const windowed: AttentionProblem = {
  shape: odd,
  mask: { kind: "window", left: 10, right: 3 },
  scale: 0.25,
  softcap: 30,
  strides: denseProblemStrides(odd),
};

const builds: readonly Build[] = ladder.flatMap((rung) =>
  [plain, windowed].flatMap((problem, p) =>
    Object.entries({ itself: rung.point, ...rung.variants }).map(
      ([variant, point]): Build =>
        (target, subgroup) => {
          const fitted = fitPoint(point, problem, subgroup, targetLimits(target));
          const { kernel } = planAttention(fitted, problem, { subgroup, writeLse: p === 0 });
          return {
            name: `${rung.id}_${variant.replaceAll(/\W/g, "_")}_${p}`,
            kernel: kernel as unknown as Kernel,
          };
        },
    ),
  ),
);

await throughCompilers("every rung", builds, {
  cuda: { architectures: inFull(["sm_80", "sm_89", "sm_90a"], ["sm_90a"]), options: [] },
  hip: { wide: inFull(["gfx90a", "gfx942"], ["gfx942"]), narrow: ["gfx1100"], options: [] },
  wgsl: inFull([4, 32, 64], [4, 32]),
});
