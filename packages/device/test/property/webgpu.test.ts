/** Random programs give the same bits on WebGPU as on the simulator, as far as WGSL promises them (portable.ts). */

import fc from "fast-check";
import { test } from "vitest";
import { requireOptional } from "../../../../test/support/optional.ts";
import { hasSwiftShader, useSwiftShader } from "../../../../test/support/swiftshader.ts";
import { openDevice, openSim } from "@evolver/device";
import { compare, execute } from "./execute.ts";
import { programs } from "./generate.ts";
import { portable } from "./portable.ts";

const RUNS = Number(process.env.PROPERTY_RUNS ?? 40);
const how = "npm ci with dev dependencies, on Linux on x64";

requireOptional(
  "SwiftShader",
  hasSwiftShader,
  how,
)("random programs on webgpu over SwiftShader", () => {
  test("agree with the simulator", async () => {
    useSwiftShader();
    const webgpu = await openDevice("webgpu");
    const sim = openSim({ subgroup: webgpu.subgroupSize, checks: false, counters: false });
    try {
      await fc.assert(
        fc.asyncProperty(programs.map(portable), async (program) => {
          const wanted = await execute(sim, program, "static");
          compare(program, wanted, await execute(webgpu, program, "static"), "webgpu", false);
        }),
        { numRuns: RUNS },
      );
    } finally {
      await sim.close();
      await webgpu.close();
    }
  });
});
