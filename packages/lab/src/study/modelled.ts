/**
 * Counters and modelled time of a plan: what the simulator counts goes through the cost model of a machine. A large launch
 * is counted on a sample of its workgroups, and the counters are scaled.
 */

import { EvolverError } from "@evolver/base";
import {
  workgroupCount,
  type Counters,
  type Plan,
  type PlanBuffer,
  type RunnablePlan,
} from "@evolver/device";
import { elementBytes, sharedMemoryBytes, type KernelIR } from "@evolver/kernel";
import {
  estimateRegisters,
  modelTime,
  scaleCounters,
  type MachineProfile,
  type ModelConstants,
  type ModelledTime,
} from "@evolver/machine";
import { countersOf } from "./counters.ts";
import type { Measurement } from "./measurement.ts";
import { evenSample } from "./sample.ts";

/** A launch of a plan, and what it did. */
export interface CountedLaunch {
  readonly plan: Plan;
  readonly kernel: KernelIR;
  /** Units of work that multiprocessors share out, with counters for all. */
  readonly workgroups: number;
  readonly counters: Counters;
}

/** What a plan does, counted on the simulator, and the time that the model gives it. */
export interface CountedPlan {
  /** For the whole launch, scaled where only a sample of it ran; of the slowest launch where there are several. */
  readonly counters: Counters;
  readonly workgroups: number;
  /** Units of work, as many as workgroups unless these are persistent, and how many of them ran. */
  readonly tiles: number;
  readonly sampledTiles: number;
  readonly modelled: ModelledTime;
  /** Floating-point operations of all launches. */
  readonly flops: number;
}

/** How often the least that moves of a buffer is moved. */
export const TIMES_MOVED: Readonly<Record<PlanBuffer["role"], number>> = {
  input: 1,
  output: 1,
  inout: 2,
  scratch: 0,
};

/** The time of one launch of a plan. */
export function modelLaunch(
  { plan, kernel, workgroups, counters }: CountedLaunch,
  machine: MachineProfile,
  constants?: ModelConstants,
): ModelledTime {
  const [x, y, z] = kernel.workgroupSize;
  const workload = {
    counters,
    workgroups,
    invocationsPerWorkgroup: x * y * z,
    sharedBytesPerWorkgroup: kernel.shared.reduce((sum, memory) => sum + sharedMemoryBytes(memory), 0),
    registersPerInvocation: estimateRegisters(kernel),
    compulsoryBytes: plan.buffers.reduce(
      (sum, { role, element, length }) => sum + TIMES_MOVED[role] * length * elementBytes(element),
      0,
    ),
  };
  return modelTime(machine, workload, constants);
}

/**
 * Runs a plan on the simulator and models its time; those of its launches add up.
 *
 * @param most workgroups of a launch that are run, where they all do the same on other data; all of them if left out
 */
export async function countPlan(
  bound: RunnablePlan,
  machine: MachineProfile,
  most = Infinity,
): Promise<CountedPlan> {
  const { plan } = bound;
  const samples = plan.launches.map((launch) => {
    const workgroups = workgroupCount(launch);
    return workgroups <= most ? null : evenSample(workgroups, most);
  });
  const results = await bound.run((launch) => samples[launch] ?? null);
  const launches = plan.launches.map((launch, i) => {
    const workgroups = workgroupCount(launch);
    const sampled = samples[i]?.length ?? workgroups;
    const own = countersOf(results[i]);
    const counters = sampled === workgroups ? own : scaleCounters(own, workgroups / sampled);
    const kernel = plan.kernels[launch.kernel] as KernelIR;
    return {
      workgroups,
      sampled,
      counters,
      modelled: modelLaunch({ plan, kernel, workgroups, counters }, machine),
    };
  });
  const slowest = launches.toSorted((a, b) => b.modelled.timeMs - a.modelled.timeMs)[0];
  if (slowest === undefined) throw new EvolverError("PLAN_INVALID", "The plan launches nothing.");
  const sum = (of: (launch: (typeof launches)[number]) => number): number =>
    launches.reduce((all, launch) => all + of(launch), 0);
  const workgroups = sum((launch) => launch.workgroups);
  return {
    counters: slowest.counters,
    workgroups,
    tiles: workgroups,
    sampledTiles: sum((launch) => launch.sampled),
    modelled: { ...slowest.modelled, timeMs: sum((launch) => launch.modelled.timeMs) },
    flops: sum((launch) => launch.counters.flops),
  };
}

/** What a study says was measured where time is modelled. */
export function modelledMeasurement(
  { counters, modelled, sampledTiles, tiles, workgroups }: CountedPlan,
  machine: MachineProfile,
): Measurement {
  return {
    timeMs: modelled.timeMs,
    timeKind: "modelled",
    noise: 0,
    championTimeMs: null,
    counters,
    details: {
      profile: machine.name,
      bottleneck: modelled.bottleneck,
      terms: Object.fromEntries(modelled.terms.map(({ name, timeMs }) => [name, timeMs])),
      residentWorkgroups: modelled.residentWorkgroups,
      workgroups,
      tiles,
      sampledTiles,
    },
  };
}
