/**
 * First part of `npm run bench`: the benchmarks of the simulator, of its pipelines and look-back, of the cpu device and of its threads in
 * turn, then useful MFLOP/s of attention (one head, 512 queries and keys, 64 dimensions, no mask) beside what the same
 * algorithm in OpenCL reached on a machine of two cores. Nothing is asserted: another machine gives other numbers. The
 * second part, bench/peers.ts, is a package of its own.
 */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { median } from "@evolver/base";
import { openCpu, openSim, type Device } from "@evolver/device";
import { attentionLaunch, sharedTileAttention } from "./attention.ts";

const LENGTH = 512;
const RUNS = 9;
const WARM_MS = 300;

/** Useful MFLOP/s: Oclgrind with race and uninitialised checks; PoCL on one core and on two. */
const OCLGRIND = 0.32;
const POCL = [753, 1490] as const;

for (const name of ["sim.ts", "pipelines.ts", "look-back.ts", "cpu.ts", "workers.ts"]) {
  console.log(`\n${name}`);
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, name)], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

console.log(`\nattention, ${LENGTH} × ${LENGTH} × 64`);
console.log(row("sim, every check", await speed(openSim(), 1, 0), "Oclgrind", OCLGRIND));
for (const [k, pocl] of POCL.entries()) {
  const workers = k + 1;
  const cores = workers === 1 ? "1 core" : `${workers} cores`;
  console.log(row(`cpu, ${cores}`, await speed(openCpu({ workers }), RUNS, WARM_MS), `PoCL, ${cores}`, pocl));
}

/** By the clock: the median, once it has run for so long that code is optimised and threads have started. Closes the device. */
async function speed(device: Device, runs: number, warmMs: number): Promise<number> {
  try {
    const program = await device.compile(sharedTileAttention(4));
    const { launch, flops } = attentionLaunch(device, LENGTH);
    const warm = performance.now() + warmMs;
    do await program.run(warmMs > 0 ? launch : { ...launch, workgroups: 1 });
    while (performance.now() < warm);
    const times: number[] = [];
    for (let i = 0; i < runs; i++) {
      const start = performance.now();
      await program.run(launch);
      times.push(performance.now() - start);
    }
    return flops / median(times) / 1e3;
  } finally {
    await device.close();
  }
}

function row(name: string, mflops: number, other: string, otherMflops: number): string {
  const own = mflops.toPrecision(4).padStart(8);
  return `${name.padEnd(18)} ${own} MFLOP/s, ${(mflops / otherMflops).toPrecision(3)} times ${other} (${otherMflops})`;
}
