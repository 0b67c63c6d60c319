/** The guide's texts about attention's ladder as a whole. */

import type { ClaimCase } from "@evolver/attention";
import type { LadderGuide } from "@evolver/guide";
import { printShape } from "../shape.ts";

type Texts = Omit<LadderGuide, "rungs">;

/**
 * @param steps rungs after the first
 * @param common what all rungs are compared on
 */
export const textsOf = (steps: number, common: ClaimCase): Texts => ({
  study: "attention",
  title: "The attention ladder",
  intro: `Attention computes softmax(scale · Q Kᵀ) V: every query looks at every key, and takes a mean of the values, weighted by
how well the keys fit. This guide begins with a simple kernel for it and changes it ${steps} times. Each kernel is a rung and
differs little from an earlier one; most are faster, some are not. The changes are given in numbers that are counted, not
guessed. You need no GPU to follow: the simulator counts on any machine, and you can repeat every count.`,
  aboutPictures: `Blue is global
  memory and data from it, orange shared memory, green computing, purple data other than K and V; dashed arrows are
  asynchronous copies.`,
  aboutCode: `One kernel serves all rungs: a rung is a value for each axis, and an axis a folder of small files in
  \`packages/attention/src/flash/axes\`. The page shows parts of them, as a difference where one takes another's place, and the
  CUDA that \`npx evolver emit\` writes where few lines of it differ.`,
  common: {
    input: printShape(common.problem),
    about: `${headsOf(common)}, small enough to count in seconds, ${workgroupsOf(common)}`,
    note: `Packing (k09, k10) and persistent workgroups (k08, k10, k12) change little here; their sections use problems where they matter. \`npx evolver ladder attention --shape ${printShape(common.problem)}\` counts a little more than this page, mostly
sectors and instructions, because it also stores the logarithm of each row's sum.`,
  },
  peersAre: {
    what: "PyTorch's float32 attention",
    about: `\`torch math\` uses the ordinary float32 units, as all rungs do, and writes the matrix of scores to memory. \`torch
efficient\` is a fused kernel that multiplies on tensor cores, each float32 product as three of TF32, which has a different error.`,
  },
  tries: {
    rungs: "k03,k04",
    input: "--shape B1,Hq8,Hkv2,S256,D128,causal",
    evolve: "--shape B1,Hq32,Hkv8,S256,D128",
    emit: "k04",
  },
  goOn: `The rungs are in \`packages/attention/src/rungs\`, one file per rung, and the axes in \`packages/attention/src/flash\`.
[CONTRIBUTING.md](../CONTRIBUTING.md) says how to add a rung or an axis, [gpu.md](gpu.md) how to measure on a GPU,
[language.md](language.md) how kernels are written.`,
});

function headsOf({ problem: { shape } }: ClaimCase): string {
  const { batch, headsQ } = shape;
  return batch * headsQ === 1 ? "one head" : `${batch * headsQ} heads of queries`;
}

const workgroupsOf = ({ persistentWorkgroups: most }: ClaimCase): string =>
  most === undefined
    ? "with as many persistent workgroups as a large GPU holds"
    : `with at most ${most} persistent workgroups`;
