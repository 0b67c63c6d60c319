/**
 * Every rung on the `hip` device, with a stand-in for AMD's libraries that compiles what the HIP emitter writes for this
 * machine's processor and runs it lane by lane, at both widths of AMD's wavefronts.
 */

import { openDevice } from "@evolver/device";
import { attentionTruth, createProblem, ladder, randomInputs } from "@evolver/attention";
import { afterAll, expect, it } from "vitest";
import { cpp } from "../../../test/support/compilers.ts";
import { useStandIn } from "../../../test/support/hip-cpu/batch.ts";
import { requireOptional } from "../../../test/support/optional.ts";
import { checkPointOn } from "./support/run.ts";

const shape = { batch: 2, headsQ: 4, headsKv: 2, seqQ: 19, seqK: 37, dim: 40 };
const problem = createProblem(shape, { causal: true, softcap: 20 });
const inputs = randomInputs(problem, { seed: 3 });
const truth = attentionTruth(problem, inputs);

const withCompiler = requireOptional("g++ or clang-19", cpp !== null, "apt-get install g++");
for (const width of [32, 64] as const) {
  withCompiler(`wavefronts of ${width}`, () => {
    const standIn = useStandIn(width);
    afterAll(() => standIn.remove());

    it.each(ladder.map(({ id, point }) => ({ id, point })))("$id", async ({ point }) => {
      process.env["HIP_CPU_WIDTH"] = String(width);
      const device = await openDevice("hip");
      try {
        for (const order of ["ascending", "descending"]) {
          process.env["HIP_CPU_ORDER"] = order;
          const { verdict } = await checkPointOn(device, point, problem, inputs, truth);
          expect(verdict).toBe("right");
        }
      } finally {
        await device.close();
      }
    });
  });
}
