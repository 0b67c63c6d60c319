/**
 * How fast the simulator runs: lane-operations a second on an inner loop like attention's (one fma with two loads of
 * shared memory a step), with all checks and without. Processor time, so that a busy machine changes little.
 * Run: node packages/device/bench/sim.ts
 */

import { buffer, f32, fma, kernel, padded } from "@evolver/kernel";
import { openSim } from "../src/index.ts";
import type { SimOptions } from "../src/index.ts";

const DIM = 64;
const KEYS = 32;

/** Each lane takes a key: scores of 8 queries against 32 keys, over and over. */
const scores = kernel(
  "scores",
  {
    params: { q: buffer(f32), k: buffer(f32), out: buffer(f32, "read_write") },
    workgroup: ({ subgroup }) => [8 * subgroup],
  },
  ({ q, k, out }, gpu) => {
    const tileK = gpu.shared(f32, padded([KEYS, DIM], 1));
    const tileQ = gpu.shared(f32, padded([8, DIM], 1));
    const threads = gpu.numSubgroups * gpu.subgroupSize;
    gpu.for({ from: gpu.localIndex, to: KEYS * DIM, step: threads }, (i) =>
      tileK.set(i.divTrunc(DIM), i.remTrunc(DIM), k.get(i)),
    );
    gpu.for({ from: gpu.localIndex, to: 8 * DIM, step: threads }, (i) =>
      tileQ.set(i.divTrunc(DIM), i.remTrunc(DIM), q.get(i)),
    );
    gpu.barrier();
    const sum = gpu.var(f32, 0);
    gpu.for({ from: 0, to: 16 }, () => {
      gpu.for({ from: 0, to: DIM }, (d) => {
        const key = gpu.lane.remTrunc(KEYS);
        sum.set(fma(tileQ.get(gpu.subgroupId, d), tileK.get(key, d), sum.get()));
      });
    });
    out.set(gpu.globalId.x, sum.get());
  },
);

async function measure(name: string, options: SimOptions): Promise<void> {
  const device = openSim(options);
  const program = await device.compile(scores);
  const workgroups = 16;
  const args = {
    q: device.createBuffer("f32", 8 * DIM),
    k: device.createBuffer("f32", KEYS * DIM),
    out: device.createBuffer("f32", workgroups * 8 * device.subgroupSize),
  };
  await program.run({ workgroups: 2, args });
  const begin = process.cpuUsage();
  await program.run({ workgroups, args });
  const ms = process.cpuUsage(begin).user / 1000;
  const fmas = workgroups * 8 * device.subgroupSize * 16 * DIM;
  console.log(
    `${name.padEnd(28)} ${((fmas * 3) / ms / 1e3).toFixed(1).padStart(8)} M lane-operations/s ` +
      `${((ms * 1e6) / fmas).toFixed(1).padStart(7)} ns per lane-fma`,
  );
}

for (const subgroup of [4, 8, 32, 64, 128]) await measure(`subgroups of ${subgroup}`, { subgroup });
await measure("32, no counters", { counters: false });
await measure("32, no checks", { checks: false });
await measure("32, neither", { checks: false, counters: false });
await measure("32, seeded", { seed: 1 });
