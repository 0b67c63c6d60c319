/**
 * How fast the simulator runs: lane-operations per second on an inner loop like attention's (one fma with two loads of
 * shared memory a step), with all checks and without. Processor time, so that a busy machine changes little.
 * Run: node packages/device/bench/sim.ts
 */

import { openSim } from "@evolver/device";
import type { SimOptions } from "@evolver/device";
import { scores, scoresLaunch } from "./scores.ts";

async function measure(name: string, options: SimOptions): Promise<void> {
  const device = openSim(options);
  const program = await device.compile(scores);
  const { launch, laneFmas } = scoresLaunch(device, 16);
  await program.run({ ...launch, workgroups: 2 });
  const begin = process.cpuUsage();
  await program.run(launch);
  const ms = process.cpuUsage(begin).user / 1000;
  console.log(
    `${name.padEnd(28)} ${((laneFmas * 3) / ms / 1e3).toFixed(1).padStart(8)} M lane-operations/s ` +
      `${((ms * 1e6) / laneFmas).toFixed(1).padStart(7)} ns per lane-fma`,
  );
}

for (const subgroup of [4, 8, 32, 64, 128]) await measure(`subgroups of ${subgroup}`, { subgroup });
await measure("32, no counters", { counters: false });
await measure("32, no checks", { checks: false });
await measure("32, neither", { checks: false, counters: false });
await measure("32, seeded", { seed: 1 });
