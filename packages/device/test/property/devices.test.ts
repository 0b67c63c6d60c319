/** Random programs give the same bits on the cpu device as on the simulator, at every subgroup width. */

import fc from "fast-check";
import { describe, test } from "vitest";
import { openCpu, openSim } from "@evolver/device";
import { compare, execute } from "./execute.ts";
import { programs } from "./generate.ts";

const RUNS = Number(process.env.PROPERTY_RUNS ?? 40);

describe.each([4, 8, 32, 64])("subgroups of %d", (subgroup) => {
  test("random programs agree", async () => {
    const sim = openSim({ subgroup, checks: false, counters: false });
    const cpu = openCpu({ subgroup, workers: 1 });
    try {
      await fc.assert(
        fc.asyncProperty(programs, async (program) => {
          compare(program, await execute(sim, program), await execute(cpu, program), "cpu");
        }),
        { numRuns: RUNS },
      );
    } finally {
      await sim.close();
      await cpu.close();
    }
  });
});
