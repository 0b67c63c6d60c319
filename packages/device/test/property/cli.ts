/**
 * Random programs on a device of this machine against the simulator, without a test runner, for GPU machines. Prints
 * one JSON document; exits 1 with the smallest program that differs.
 *
 *     node packages/device/test/property/cli.ts --device cuda --runs 200
 */

import { parseArgs } from "node:util";
import fc from "fast-check";
import { openDevice, openSim, type DeviceId } from "@evolver/device";
import { compare, execute } from "./execute.ts";
import { programs } from "./generate.ts";
import { portable } from "./portable.ts";

const { values } = parseArgs({
  options: {
    device: { type: "string", default: "cuda" },
    runs: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
  },
});
const device = await openDevice(values.device as DeviceId);
const sim = openSim({ subgroup: device.subgroupSize, checks: false, counters: false });
const seed = Number(values.seed);
const details = await fc.check(
  fc.asyncProperty(programs.map(portable), async (program) => {
    const wanted = await execute(sim, program, "static");
    compare(program, wanted, await execute(device, program, "static"), device.id, device.id !== "webgpu");
  }),
  { numRuns: Number(values.runs), seed },
);
const document = {
  device: values.device,
  name: device.name,
  subgroup: device.subgroupSize,
  seed,
  programs: details.numRuns,
  agree: !details.failed,
  counterexample: details.failed ? String(details.errorInstance) : null,
};
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
await sim.close();
await device.close();
process.exitCode = details.failed ? 1 : 0;
