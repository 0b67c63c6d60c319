/** Attention kernels on one problem and device: bound to buffers, verified, timed. Knows nothing of the page. */

import {
  attentionPlan,
  compareWithTruth,
  fitPoint,
  limitsOf,
  type AttentionProblem,
  type AttentionTruth,
  type FloatInputs,
  type AttentionRung,
} from "@evolver/attention";
import { factsOf, h200Datasheet, modelTime } from "@evolver/machine";
import {
  bindPlan,
  buildOf,
  deviceRows,
  workgroupCount,
  type Counters,
  type Device,
  type Plan,
} from "@evolver/device";
import { EvolverError, quartiles } from "@evolver/base";
import { elementBytes, sharedBytesOf } from "@evolver/kernel";
import type { Timing, Verified } from "./job.ts";

/** A rung with everything that its launches need. */
export interface BoundRung {
  readonly rung: AttentionRung;
  /** Runs it once on outputs full of NaN, and compares all of them with the truth. */
  verify(truth: AttentionTruth): Promise<Verified>;
  /** Milliseconds for some launches together; null on a device whose time is modelled. */
  time: ((launches: number) => Promise<number>) | null;
  /** Milliseconds by the simulator's counters of the run that verified it; null on any other device. */
  modelledMs(): number | null;
}

/** @throws EvolverError what the kernel's limits and the device's compiler object to */
export async function bindRung(
  rung: AttentionRung,
  problem: AttentionProblem,
  inputs: FloatInputs,
  device: Device,
): Promise<BoundRung> {
  const point = fitPoint(rung.point, problem, device.subgroupSize, limitsOf(device));
  const machine = factsOf(h200Datasheet);
  const plan = attentionPlan(point, problem, { ...buildOf(device), machine });
  const bound = await bindPlan(device, plan, { inputs: { ...inputs }, fill: "nan" });
  let modelledMs: number | null = null;
  return {
    rung,
    async verify(truth) {
      const [result] = await bound.run();
      if (result?.counters) modelledMs = modelled(plan, result.counters);
      const output = { o: await bound.read("o"), lse: await bound.read("lse") };
      const { pass, error, bound: allowed } = compareWithTruth(problem, truth, output);
      return { pass, error, bound: allowed };
    },
    time: deviceRows[device.id].measures ? async (launches) => (await bound.time(launches)) * launches : null,
    modelledMs: () => modelledMs,
  };
}

/** The time of a plan of one launch, in milliseconds, on the machine of the datasheet. */
function modelled({ kernels: [ir], launches: [launch], buffers }: Plan, counters: Counters): number {
  if (ir === undefined || launch === undefined) return 0;
  const [x, y, z] = ir.workgroupSize;
  const { tileCount = workgroupCount(launch) } = launch.args;
  return modelTime(h200Datasheet, {
    counters,
    // The model's unit of work, whichever workgroup does it.
    workgroups: tileCount as number,
    invocationsPerWorkgroup: x * y * z,
    sharedBytesPerWorkgroup: sharedBytesOf(ir),
    compulsoryBytes: buffers.reduce((sum, { element, length }) => sum + length * elementBytes(element), 0),
  }).timeMs;
}

/** Of rounds: an odd number has a middle. */
const MOST_ROUNDS = 21;
const FEWEST_ROUNDS = 5;
const BUDGET_MS = 3_000;
/** Browsers round a GPU's timestamps to 0.1 ms, so that a round shorter than this says little. */
const ROUND_MS = 10;
const MOST_LAUNCHES = 1024;

/**
 * Times rungs in rounds that interleave them, so that a change of clock rate or load affects all of them. Calls back after
 * each round with the results so far and the progress, from 0 to 1.
 */
export async function timeRungs(
  rungs: readonly BoundRung[],
  onRound: (timings: ReadonlyMap<string, Timing>, progress: number) => void,
): Promise<void> {
  const entries: {
    id: string;
    time(launches: number): Promise<number>;
    launches: number;
    times: number[];
  }[] = [];
  for (const { rung, time } of rungs) {
    if (time === null)
      throw new EvolverError("NO_CLOCK", `${rung.id} runs on a device that measures no time`);
    entries.push({ id: rung.id, time, launches: await launchesFor(time), times: [] });
  }
  const start = performance.now();
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    for (const { time, launches, times } of entries) times.push((await time(launches)) / launches);
    const spent = (performance.now() - start) / BUDGET_MS;
    onRound(
      new Map(entries.map(({ id, times, launches }) => [id, timingOf(times, launches)])),
      Math.min(1, Math.max(spent, round / MOST_ROUNDS)),
    );
    if (round >= FEWEST_ROUNDS && round % 2 === 1 && spent >= 1) return;
  }
}

/** How many launches fill a round. What it runs to find out also warms the device up. */
async function launchesFor(time: (launches: number) => Promise<number>): Promise<number> {
  let launches = 1;
  await time(launches);
  for (;;) {
    const timeMs = await time(launches);
    if (timeMs >= ROUND_MS || launches >= MOST_LAUNCHES) return launches;
    const wanted = Math.ceil((ROUND_MS * 1.2 * launches) / Math.max(timeMs, 0.1));
    launches = Math.min(MOST_LAUNCHES, Math.max(2 * launches, Math.min(wanted, 16 * launches)));
  }
}

function timingOf(times: readonly number[], launches: number): Timing {
  const { low, median, high } = quartiles(times);
  return { medianMs: median, lowMs: low, highMs: high, rounds: times.length, launches };
}
