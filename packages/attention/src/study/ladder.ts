/** The attention ladder on one input: every rung verified, counted, timed and held to its claims. */

import {
  attentionPlan,
  attentionTruth,
  compareWithTruth,
  fitPoint,
  forwardFlops,
  ladder,
  rungById,
  runClaims,
  type AttentionBufferTypes,
  type AttentionProblem,
  type AttentionTruth,
  type FlashPoint,
  type Rung,
  limitsOf,
} from "@evolver/attention";
import { median } from "@evolver/base";
import { factsOf, type MachineProfile } from "@evolver/machine";
import {
  bindPlan,
  buildOf,
  openDevice,
  type AnyTypedArray,
  type BoundPlan,
  type Device,
  type DeviceId,
} from "@evolver/device";
import {
  defaultMachine,
  openMachine,
  type LadderOptions,
  type LadderReport,
  type RungReport,
} from "@evolver/lab";
import { objectiveCase } from "./cases.ts";
import { countPlan } from "./counters.ts";
import { openAttentionInput, type AttentionInput, type OpenedInput } from "./input.ts";
import { fitOrNull } from "./points.ts";

/** Rounds of timing, in each of which every rung runs once. */
const ROUNDS = 21;
const WARM_UP_ROUNDS = 3;

type Bound = BoundPlan<AttentionBufferTypes>;

/** What a rung runs on: data, and the machine that is meant where the device does not say what it holds. */
interface On {
  readonly inputs: Readonly<Record<string, AnyTypedArray>>;
  readonly machine: MachineProfile;
}

/**
 * On `sim`, time is modelled; on any other device it is measured, in rounds that interleave the rungs, and the model's
 * time stands beside it.
 *
 * Where no rungs are named, those that nothing makes fit the device are left out.
 *
 * @throws EvolverError UNKNOWN_RUNG, INVALID_POINT for a named rung that does not fit, and what the input and the device throw
 */
export async function attentionLadder(options: LadderOptions): Promise<LadderReport> {
  const named = options.rungs?.map((id) => rungById(id)) ?? null;
  const input = await openAttentionInput(options.input as unknown as AttentionInput);
  const machine = await openMachine(options.input);
  const sim = await openDevice("sim", { subgroup: defaultMachine.subgroupSize });
  const device =
    options.device === "sim" ? await openDevice("cpu") : await openDevice(options.device as DeviceId);
  const bound: Bound[] = [];
  try {
    const { inputs } = objectiveCase(input, options.seed);
    const truth = attentionTruth(
      input.problem,
      inputs as { q: Float32Array; k: Float32Array; v: Float32Array },
    );
    const reports: Omit<RungReport, "timeMs" | "tflops">[] = [];
    const fits = ({ point }: Rung): boolean =>
      fitOrNull(point, input.problem, device.subgroupSize, limitsOf(device)) !== null;
    const rungs = named ?? ladder.filter(fits);
    for (const [done, rung] of rungs.entries()) {
      options.onRung?.(`${rung.id} ${rung.title}`, done, rungs.length);
      const point = fitPoint(rung.point, input.problem, device.subgroupSize, limitsOf(device));
      const own = await bindPoint(device, point, input.problem, { inputs, machine });
      bound.push(own);
      reports.push({
        ...(await verifyRung(own, input, truth)),
        ...(await countRung(rung, sim, input, { inputs, machine, seed: options.seed })),
      });
    }
    const measured = options.device === "sim" ? null : await timeRungs(bound);
    const flops = forwardFlops(input.problem);
    return {
      study: "attention",
      device: options.device,
      deviceName: options.device === "sim" ? sim.name : device.name,
      timeKind: measured === null ? "modelled" : "measured",
      profile: machine.name,
      input: input.title,
      rungs: reports.map((report, k) => {
        const timeMs = measured?.[k] ?? report.modelledTimeMs;
        return { ...report, timeMs, tflops: flops / timeMs / 1e9 };
      }),
    };
  } finally {
    for (const each of bound) each.destroy();
    await sim.close();
    await device.close();
  }
}

const bindPoint = (
  device: Device,
  point: FlashPoint,
  problem: AttentionProblem,
  { inputs, machine }: On,
): Promise<Bound> => {
  const facts = device.machine ?? factsOf(machine);
  const plan = attentionPlan(point, problem, { ...buildOf(device), machine: facts });
  return bindPlan(device, plan, { inputs, fill: "nan" });
};

type Verified = Pick<RungReport, "verified" | "error" | "bound">;

/** Runs the rung once and compares its whole output with the truth. */
async function verifyRung(own: Bound, input: OpenedInput, truth: AttentionTruth): Promise<Verified> {
  await own.run();
  const [o, lse] = [await own.read("o"), await own.read("lse")];
  const { pass, error, bound } = compareWithTruth(input.problem, truth, { o, lse });
  return { verified: pass, error, bound };
}

/** Counters, modelled time and claims, all from the simulator. */
async function countRung(
  rung: Rung,
  sim: Device,
  input: OpenedInput,
  { inputs, machine, seed }: On & { readonly seed: number },
): Promise<Omit<RungReport, keyof Verified | "timeMs" | "tflops">> {
  const point = fitPoint(rung.point, input.problem, sim.subgroupSize);
  const onSim = await bindPoint(sim, point, input.problem, { inputs, machine });
  try {
    const { counters, modelled, workgroups, tiles, sampledTiles } = await countPlan(
      onSim,
      () => inputs,
      input.problem,
      machine,
      seed,
    );
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
      claims: await runClaims(sim, rung),
      found: rung.found,
    };
  } finally {
    onSim.destroy();
  }
}

/** The median time of each rung, in milliseconds. */
async function timeRungs(bound: readonly Bound[]): Promise<number[]> {
  const times = bound.map((): number[] => []);
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const [k, own] of bound.entries()) {
      const timeMs = await own.time();
      if (round >= 0) times[k]?.push(timeMs);
    }
  }
  return times.map(median);
}
