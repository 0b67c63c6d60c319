/**
 * What a second thread of the cpu device gives, by how long a launch takes on one: the best of many launches, on one thread
 * and on two by turns, so that what else runs on the machine falls on both. Attention over 512 keys, about 50 µs per workgroup.
 * Run: node packages/device/bench/workers.ts [rounds]
 */

import { openCpu } from "@evolver/device";
import type { Device } from "@evolver/device";
import { attentionLaunch, sharedTileAttention } from "./attention.ts";

const ROUNDS = Number(process.argv[2] ?? 8);
/** Milliseconds of work on one thread. */
const SIZES = [0.5, 1, 2, 5, 10, 50];
const KEYS = 512;
const ROWS_PER_WORKGROUP = 8;
/** Launches of a size in a turn take about this long. */
const TURN_MS = 60;
/** As long until code is optimised and threads have started. */
const WARM_MS = 400;

/** Gives a function that launches so many workgroups, and says how long that took. */
async function prepare(device: Device, workgroups: number): Promise<() => Promise<number>> {
  const program = await device.compile(sharedTileAttention(4));
  const { launch } = attentionLaunch(device, KEYS, workgroups * ROWS_PER_WORKGROUP);
  return async () => {
    const start = performance.now();
    await program.run(launch);
    return performance.now() - start;
  };
}

async function bestFor(ms: number, run: () => Promise<number>): Promise<number> {
  const until = performance.now() + ms;
  let best = Infinity;
  do best = Math.min(best, await run());
  while (performance.now() < until);
  return best;
}

const one = openCpu({ workers: 1 });
const two = openCpu({ workers: 2 });
const calibration = 64;
const msPerWorkgroup = (await bestFor(WARM_MS, await prepare(one, calibration))) / calibration;
await bestFor(WARM_MS, await prepare(two, 8 * calibration));

console.log("work        one thread   two threads   ratio");
for (const size of SIZES) {
  const workgroups = Math.max(1, Math.round(size / msPerWorkgroup));
  const runs = [await prepare(one, workgroups), await prepare(two, workgroups)] as const;
  const best: [number, number] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS; round++)
    for (const i of [0, 1] as const) best[i] = Math.min(best[i], await bestFor(TURN_MS, runs[i]));
  const [alone, together] = best;
  const columns = [`${alone.toFixed(2)} ms`, `${together.toFixed(2)} ms`, (alone / together).toFixed(2)];
  console.log(`${`${size} ms`.padEnd(8)} ${columns.map((column) => column.padStart(12)).join(" ")}`);
}
await one.close();
await two.close();
