/**
 * Speed of the cpu device: useful MFLOP/s of attention (4 · S² · D over time) and lane-operations per second, by threads
 * and subgroup widths. On one thread processor time counts, so that a busy machine changes little; on several the
 * clock does.
 * Run: node packages/device/bench/cpu.ts [sequence length]
 */

import { median } from "@evolver/base";
import { openCpu } from "@evolver/device";
import type { RunResult } from "@evolver/device";
import { attentionLaunch, sharedTileAttention } from "./attention.ts";
import { scores, scoresLaunch } from "./scores.ts";

const LENGTH = Number(process.argv[2] ?? 512);
const RUNS = 15;

/** Milliseconds of a run after a few first ones: the median. */
async function timeOf(run: () => Promise<RunResult>, processor: boolean): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < RUNS + 3; i++) {
    const begin = process.cpuUsage();
    const { timeMs } = await run();
    times.push(processor ? process.cpuUsage(begin).user / 1000 : (timeMs as number));
  }
  return median(times.slice(3));
}

async function attention(subgroup: number, workers: number, vector: 1 | 4): Promise<string> {
  await using device = closing(openCpu({ subgroup, workers }));
  const program = await device.compile(sharedTileAttention(vector));
  const { launch, flops } = attentionLaunch(device, LENGTH);
  const ms = await timeOf(() => program.run(launch), workers === 1);
  return `${(flops / ms / 1e3).toFixed(0).padStart(8)} MFLOP/s (${ms.toFixed(2)} ms)`;
}

async function laneOperations(subgroup: number): Promise<string> {
  await using device = closing(openCpu({ subgroup, workers: 1 }));
  const program = await device.compile(scores);
  const { launch, laneFmas } = scoresLaunch(device, 512);
  const ms = await timeOf(() => program.run(launch), true);
  return `${((laneFmas * 3) / ms / 1e3).toFixed(0).padStart(8)} M lane-operations/s`;
}

function closing<D extends { close(): Promise<void> }>(device: D): D & AsyncDisposable {
  return Object.assign(device, { [Symbol.asyncDispose]: () => device.close() });
}

for (const subgroup of [4, 8, 16, 32, 64]) {
  const name = `subgroups of ${subgroup}`;
  console.log(`${name}, 1 thread              ${await laneOperations(subgroup)}`);
  for (const workers of [1, 2])
    for (const vector of [4, 1] as const)
      console.log(
        `${name}, ${workers} thread${workers > 1 ? "s" : " "}, K by ${vector}     ${await attention(subgroup, workers, vector)}`,
      );
}
