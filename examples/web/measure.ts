/** Attention kernels on one problem and device: bound to buffers, verified, timed. Knows nothing of the page. */

import {
  compareWithTruth,
  createScratch,
  elementCount,
  extentsOf,
  fitPoint,
  limitsOf,
  planAttention,
  type AttentionProblem,
  type AttentionTruth,
  type FloatInputs,
  type Rung,
} from "@evolver/attention";
import { h200Datasheet, modelTime } from "@evolver/machine";
import { isClocked, type ClockedProgram, type Device, type DeviceBuffer } from "@evolver/device";
import { EvolverError, quartiles } from "@evolver/base";
import { elementBytes } from "@evolver/kernel";
import type { Timing, Verified } from "./job.ts";

/** A rung with everything that its launches need. */
export interface BoundRung {
  readonly rung: Rung;
  /** Runs it once on outputs full of NaN, and compares all of them with the truth. */
  verify(truth: AttentionTruth): Promise<Verified>;
  /** Milliseconds for some launches together; null on a device whose time is modelled. */
  time: ((launches: number) => Promise<number>) | null;
  /** Milliseconds by the simulator's counters of the run that verified it; null on any other device. */
  modelledMs(): number | null;
}

/** @throws EvolverError what the kernel's limits and the device's compiler object to */
export async function bindRung(
  rung: Rung,
  problem: AttentionProblem,
  inputs: FloatInputs,
  device: Device,
): Promise<BoundRung> {
  const subgroup = device.subgroupSize;
  const point = fitPoint(rung.point, problem, subgroup, limitsOf(device));
  const plan = planAttention(point, problem, { subgroup, writeLse: true });
  const program = await device.compile(plan.kernel);
  const { batch, headsQ, seqQ } = problem.shape;
  const nothing = (length: number): DeviceBuffer<"f32"> =>
    device.createBuffer("f32", new Float32Array(length).fill(Number.NaN));
  const buffers = {
    q: device.createBuffer("f32", inputs.q),
    k: device.createBuffer("f32", inputs.k),
    v: device.createBuffer("f32", inputs.v),
    o: nothing(elementCount(extentsOf(problem.shape).o)),
    lse: nothing(batch * headsQ * seqQ),
    ...createScratch(device, plan),
  };
  const launch = { workgroups: plan.workgroups, args: { ...buffers, ...plan.scalars } };
  let modelledMs: number | null = null;

  const clocked = isClocked(device) ? device : null;
  const enqueue = clocked === null ? null : (program as ClockedProgram).prepare(launch as never);
  const time = async (launches: number): Promise<number> => {
    if (clocked !== null && enqueue !== null) {
      return clocked.time(() => {
        for (let i = 0; i < launches; i++) enqueue();
      });
    }
    let total = 0;
    for (let i = 0; i < launches; i++) total += (await program.run(launch)).timeMs ?? 0;
    return total;
  };

  return {
    rung,
    async verify(truth) {
      const { counters } = await program.run(launch);
      if (counters !== null) {
        const { ir } = program;
        modelledMs = modelTime(h200Datasheet, {
          counters,
          // The model's unit of work, whichever workgroup does it.
          workgroups: plan.tiles,
          invocationsPerWorkgroup: ir.workgroupSize[0] * ir.workgroupSize[1] * ir.workgroupSize[2],
          sharedBytesPerWorkgroup: plan.sharedBytes,
          compulsoryBytes: Object.values(buffers).reduce(
            (sum, { length }) => sum + length * elementBytes("f32"),
            0,
          ),
        }).timeMs;
      }
      const output = { o: await buffers.o.read(), lse: await buffers.lse.read() };
      const { pass, error, bound } = compareWithTruth(problem, truth, output);
      return { pass, error, bound };
    },
    time: device.id === "sim" ? null : time,
    modelledMs: () => modelledMs,
  };
}

/** Of rounds: an odd number has a middle. */
const MOST_ROUNDS = 21;
const FEWEST_ROUNDS = 5;
const BUDGET_MS = 3_000;
/** Browsers round a GPU's timestamps to 0.1 ms, so that a round shorter than this says little. */
const ROUND_MS = 10;
const MOST_LAUNCHES = 1024;

/**
 * Times rungs in rounds that interleave them, so that a clock which speeds up or a machine which gets busy meets all
 * of them. Calls back after each round: with what is known so far, and how far it is, from 0 to 1.
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
