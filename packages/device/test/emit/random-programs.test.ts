/** Programs made at random go through the compilers of CUDA and HIP. What they compute is the property tests'. */

import fc from "fast-check";
import type { Kernel } from "@evolver/kernel";
import { throughCompilers, type Build } from "../../../../test/support/through-compilers.ts";
import { programs } from "../property/generate.ts";
import { recordProgram } from "../property/record.ts";

/** Small, and the same in each run. */
const random = fc.sample(programs, { numRuns: 12, seed: 7 }).map((program, k): Build => () => ({
  name: `random${k}`,
  kernel: recordProgram(program) as unknown as Kernel,
}));

/** What was made at random may well be odd: warnings are off. */
const options = ["-w"];
await throughCompilers("random programs", random, {
  cuda: { architectures: ["sm_90a"], options },
  hip: { wide: ["gfx942"], narrow: ["gfx1100"], options },
  wgsl: [],
});
