/** A ladder on one input: every rung verified, counted, timed and held to its claims, the same way for all studies. */

import { median } from "@evolver/base";
import {
  bindPlan,
  findRung,
  isModelled,
  openDevice,
  type AnyTypedArray,
  type BoundPlan,
  type ClaimResult,
  type Device,
  type DeviceId,
  type Plan,
  type RunnablePlan,
  type RungText,
} from "@evolver/device";
import type { MachineProfile } from "@evolver/machine";
import { compareOutputs } from "./compare-outputs.ts";
import type { Expected } from "./case.ts";
import { defaultMachine } from "./machine.ts";
import type { Inputs } from "./measure.ts";
import type { CountedPlan } from "./modelled.ts";
import type { LadderOptions, LadderReport, RungReport } from "./report.ts";

/** Rounds of timing, in each of which every rung runs once. */
const ROUNDS = 21;
const WARM_UP_ROUNDS = 3;

/** What verifying a rung gives for its report. */
export type Verified = Pick<RungReport, "verified" | "error" | "bound">;

/** A study's ladder, opened on an input. */
export interface OpenLadder<R extends RungText> {
  readonly study: string;
  /** Those that run where none is named. */
  readonly rungs: readonly R[];
  /** All that can be named: the rungs and their variants. */
  readonly named: readonly R[];
  readonly inputTitle: string;
  /** Makes the data, which may take long, when first called. */
  readonly inputs: () => Inputs;
  readonly machine: MachineProfile;
  /** Of the problem, whichever kernel solves it, by the usual count. */
  readonly flops: number;
  /** Whether a device can run the rung. */
  fits(rung: R, device: Device): boolean;
  /** @throws EvolverError where it does not fit */
  plan(rung: R, device: Device): Plan;
  /** What part of the output is compared, for people; null for all of it. */
  readonly compared: string | null;
  /** Computes the truth, which may take long, and gives what compares an output with it. */
  openTruth(): (outputs: Readonly<Record<string, AnyTypedArray>>) => Verified;
  /** Counts the rung on the simulator. */
  count(bound: RunnablePlan, seed: number): Promise<CountedPlan>;
  /** @param sim with subgroups as wide as the default machine's */
  claims(rung: R, sim: Device): Promise<readonly ClaimResult[]>;
  /** The problem of the rung's claims, for people. */
  claimsOn(rung: R): string;
}

/** For ladders whose outputs are compared as the judge compares them. */
export function verifyOutputs(
  outputs: Readonly<Record<string, AnyTypedArray>>,
  expected: Readonly<Record<string, Expected>>,
): Verified {
  const { error, bound, problem } = compareOutputs(outputs, expected);
  return { verified: problem === null, error: error ?? Number.NaN, bound: bound ?? 0 };
}

/**
 * Where the device does not measure (`sim`), time is modelled; on any other it is measured, in rounds that interleave the rungs, and the model's
 * time stands beside it. Where no rungs are named, those that do not fit the device are left out.
 *
 * @throws EvolverError UNKNOWN_RUNG, and what the device and the ladder throw
 */
export async function runLadder<R extends RungText>(
  ladder: OpenLadder<R>,
  { device: id, rungs: ids, seed, onWork, onRung }: Omit<LadderOptions, "input">,
): Promise<LadderReport> {
  const named = ids?.map((each) => findRung(ladder.named, each)) ?? null;
  const { machine } = ladder;
  const sim = await openDevice("sim", { subgroup: defaultMachine.subgroupSize });
  const modelled = isModelled(id);
  const device = await openDevice(modelled ? "cpu" : (id as DeviceId));
  const bound: BoundPlan[] = [];
  try {
    const rungs = named ?? ladder.rungs.filter((rung) => ladder.fits(rung, device));
    onWork?.({
      rungs: rungs.length,
      runs: 1 + (modelled ? 0 : WARM_UP_ROUNDS + ROUNDS),
      flops: ladder.flops,
    });
    const compare = ladder.openTruth();
    const reports: Omit<RungReport, "timeMs" | "tflops">[] = [];
    for (const [done, rung] of rungs.entries()) {
      onRung?.(`${rung.id} ${rung.title}`, done, rungs.length);
      const own = await bind(ladder, rung, device);
      bound.push(own);
      reports.push({ ...(await verifyRung(own, compare)), ...(await countRung(ladder, rung, sim, seed)) });
    }
    const measured = modelled ? null : await timeRungs(bound);
    return {
      study: ladder.study,
      device: id,
      deviceName: modelled ? sim.name : device.name,
      timeKind: measured === null ? "modelled" : "measured",
      profile: machine.name,
      input: ladder.inputTitle,
      compared: ladder.compared,
      rungs: reports.map((report, k) => {
        const timeMs = measured?.[k] ?? report.modelledTimeMs;
        return { ...report, timeMs, tflops: ladder.flops / timeMs / 1e9 };
      }),
    };
  } finally {
    for (const each of bound) each.destroy();
    await sim.close();
    await device.close();
  }
}

function bind<R extends RungText>(ladder: OpenLadder<R>, rung: R, device: Device): Promise<BoundPlan> {
  return bindPlan(device, ladder.plan(rung, device), { inputs: ladder.inputs(), fill: "nan" });
}

async function verifyRung(
  own: BoundPlan,
  compare: ReturnType<OpenLadder<RungText>["openTruth"]>,
): Promise<Verified> {
  await own.run();
  const outputs: Record<string, AnyTypedArray> = {};
  for (const { name, role } of own.plan.buffers) if (role === "output") outputs[name] = await own.read(name);
  return compare(outputs);
}

/** Counters, modelled time and claims, all from the simulator. */
async function countRung<R extends RungText>(
  ladder: OpenLadder<R>,
  rung: R,
  sim: Device,
  seed: number,
): Promise<Omit<RungReport, keyof Verified | "timeMs" | "tflops">> {
  const onSim = await bind(ladder, rung, sim);
  try {
    const { counters, modelled, workgroups, tiles, sampledTiles } = await ladder.count(onSim, seed);
    return {
      id: rung.id,
      title: rung.title,
      idea: rung.idea,
      modelledTimeMs: modelled.timeMs,
      counters,
      workgroups,
      tiles,
      sampledTiles,
      bottleneck: modelled.bottleneck,
      claimsOn: ladder.claimsOn(rung),
      claims: await ladder.claims(rung, sim),
      found: rung.found,
    };
  } finally {
    onSim.destroy();
  }
}

/** The median time of each rung, in milliseconds. */
async function timeRungs(bound: readonly BoundPlan[]): Promise<number[]> {
  const times = bound.map((): number[] => []);
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const [k, own] of bound.entries()) {
      const timeMs = await own.time();
      if (round >= 0) times[k]?.push(timeMs);
    }
  }
  return times.map(median);
}
