/** Speed of the cpu device: useful MFLOP/s of attention, threads and subgroup widths side by side. */

import { openCpu } from "../src/index.ts";
import { HEAD_DIM, sharedTileAttention } from "./attention.ts";

const LENGTH = Number(process.argv[2] ?? 512);
const RUNS = 9;

async function measure(subgroup: number, workers: number, vector: 1 | 4): Promise<void> {
  const device = openCpu({ subgroup, workers });
  const random = (): Float32Array =>
    Float32Array.from({ length: LENGTH * HEAD_DIM }, (_, i) => Math.sin(i * 12.9898) * 2);
  const q = device.createBuffer("f32", random());
  const k = device.createBuffer("f32", random());
  const v = device.createBuffer("f32", random());
  const o = device.createBuffer("f32", LENGTH * HEAD_DIM);
  const beforeCompile = performance.now();
  const program = await device.compile(sharedTileAttention(vector));
  const compileMs = performance.now() - beforeCompile;
  const launch = {
    workgroups: LENGTH / 8,
    args: { q, k, v, o, length: LENGTH, scale: Math.LOG2E / Math.sqrt(HEAD_DIM) },
  };
  const times: number[] = [];
  for (let i = 0; i < RUNS; i++) times.push((await program.run(launch)).timeMs as number);
  const first = times[0] as number;
  times.sort((a, b) => a - b);
  const median = times[RUNS >> 1] as number;
  const mflops = (time: number): string => ((4 * LENGTH * LENGTH * HEAD_DIM) / time / 1e3).toFixed(0);
  console.log(
    `width ${subgroup}, K by ${vector}, ${workers} thread${workers > 1 ? "s" : ""}: ${mflops(median)} MFLOP/s (median ${median.toFixed(2)} ms, first ${first.toFixed(1)} ms, compiled in ${compileMs.toFixed(0)} ms)`,
  );
  await device.close();
}

for (const workers of [1, 2])
  for (const vector of [4, 1] as const)
    for (const subgroup of [32, 16, 8]) await measure(subgroup, workers, vector);
