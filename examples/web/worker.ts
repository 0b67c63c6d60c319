/**
 * The page's worker: runs a job from end to end, so that the page stays usable meanwhile and can stop it at any time by
 * ending the worker. Opens the device, verifies each rung, times them, and counts on the simulator.
 */

import {
  attentionTruth,
  claimCounters,
  createProblem,
  ladder,
  randomInputs,
  runClaims,
} from "@evolver/attention";
import { h200Datasheet } from "@evolver/machine";
import { CLAIM_SUBGROUP, deviceRows, openDevice, type Device } from "@evolver/device";
import { EvolverError } from "@evolver/base";
import type { DeviceFacts, Failure, Job, Report, Timing } from "./job.ts";
import { bindRung, timeRungs, type BoundRung } from "./measure.ts";

const SEED = 1;
/** Steps of progress: a rung is verified in one and counted in one, and timing takes as many as the rungs together. */
const STEPS = { setUp: 2, verify: ladder.length, time: ladder.length, count: ladder.length };
const TOTAL = STEPS.setUp + STEPS.verify + STEPS.time + STEPS.count;
/** Of one rung only: the others may still run. */
const OF_A_RUNG: ReadonlySet<string> = new Set([
  "INVALID_POINT",
  "SUBGROUPS_UNAVAILABLE",
  "TOO_MANY_BUFFERS",
  "WGSL_REFUSED",
]);

const tell = (report: Report): void => globalThis.postMessage(report);
const progress = (done: number, what: string): void => tell({ kind: "progress", done, total: TOTAL, what });

globalThis.addEventListener("message", (event: MessageEvent<Job>) => {
  void run(event.data).then(
    () => tell({ kind: "end", failure: null }),
    (error: unknown) => tell({ kind: "end", failure: failureOf(error) }),
  );
});

async function run({ device: id, shape, causal }: Job): Promise<void> {
  progress(0, "Opening the device");
  const problem = createProblem(shape, { causal });
  const device = await openDevice(id, id === "sim" ? { subgroup: CLAIM_SUBGROUP } : {});
  tell({ kind: "device", facts: factsOf(device) });
  try {
    progress(1, "Computing the reference in float64");
    const inputs = randomInputs(problem, { seed: SEED });
    const truth = attentionTruth(problem, inputs);
    const bound: BoundRung[] = [];
    for (const [i, rung] of ladder.entries()) {
      progress(STEPS.setUp + i, `Verifying ${rung.id}`);
      try {
        const own = await bindRung(rung, problem, inputs, device);
        const result = await own.verify(truth);
        tell({ kind: "verified", rung: rung.id, result });
        // A wrong kernel's time means nothing.
        if (result.pass) bound.push(own);
      } catch (error) {
        if (!(error instanceof EvolverError) || !OF_A_RUNG.has(error.code)) throw error;
        tell({ kind: "refused", rung: rung.id, failure: failureOf(error) });
      }
    }
    await time(device, bound);
  } finally {
    await device.close();
  }
  await count();
}

async function time(device: Device, bound: readonly BoundRung[]): Promise<void> {
  const before = STEPS.setUp + STEPS.verify;
  if (!deviceRows[device.id].measures) {
    for (const { rung, modelledMs } of bound) {
      const ms = modelledMs();
      if (ms !== null) tell({ kind: "timed", rung: rung.id, timing: exact(ms) });
    }
    return;
  }
  progress(before, "Warming up");
  await timeRungs(bound, (timings, share) => {
    for (const [rung, timing] of timings) tell({ kind: "timed", rung, timing });
    progress(before + share * STEPS.time, "Timing, all rungs in turns");
  });
}

const exact = (ms: number): Timing => ({ medianMs: ms, lowMs: ms, highMs: ms, rounds: 1, launches: 1 });

/** Counters and claims of each rung, on the claims' own small problem. */
async function count(): Promise<void> {
  const sim = await openDevice("sim", { subgroup: CLAIM_SUBGROUP });
  for (const [i, rung] of ladder.entries()) {
    progress(STEPS.setUp + STEPS.verify + STEPS.time + i, `Counting what ${rung.id} does, in the simulator`);
    const { globalReadBytes, globalSectors, sharedConflicts } = await claimCounters(sim, rung.point);
    const claims = await runClaims(sim, rung);
    const counted = { globalReadBytes, globalSectors, sharedConflicts, claims };
    tell({ kind: "counted", rung: rung.id, counted });
  }
  await sim.close();
}

function factsOf(device: Device): DeviceFacts {
  const { id, name, subgroupSize, limits } = device;
  const says = (property: string): boolean =>
    (device as unknown as Record<string, unknown>)[property] === true;
  const gpuClock = says("hasClock") ? "GPU timestamps" : "wall clock; this adapter gives no timestamps";
  const clocks = { webgpu: gpuClock, cpu: "wall clock", sim: `model of an ${h200Datasheet.name}` };
  return {
    name,
    subgroupSize,
    fixedSubgroups: deviceRows[id].hardware !== "any" || says("hasSubgroups"),
    limits,
    clock: clocks[id as keyof typeof clocks],
    timeKind: deviceRows[id].measures ? "measured" : "modelled",
  };
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof EvolverError))
    return { code: "ERROR", what: error instanceof Error ? error.message : String(error), hint: null };
  return { code: error.code, what: error.message.split("\n")[0] as string, hint: error.hint ?? null };
}
