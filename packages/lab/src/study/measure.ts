/** How a candidate is measured, the same way for all studies, and how a time is predicted. */

import { EvolverError } from "@evolver/base";
import {
  bindPlan,
  openDevice,
  openSim,
  type AnyTypedArray,
  type Plan,
  type RunnablePlan,
} from "@evolver/device";
import type { MachineProfile } from "@evolver/machine";
import { measureWallClock } from "./wall-clock.ts";
import type { Measurement, MeasureContext } from "./measurement.ts";
import { countPlan, modelledMeasurement, type CountedPlan } from "./modelled.ts";
import type { Target } from "./target.ts";

/** The contents of buffers, by name. */
export type Inputs = Readonly<Record<string, AnyTypedArray>>;

/** How `measureCandidate` measures. */
export interface MeasureOptions {
  readonly target: Target;
  readonly machine: MachineProfile;
  /** What the timed case reads. */
  inputs(): Inputs;
  /** Counts the candidate on the simulator. */
  count(bound: RunnablePlan): Promise<CountedPlan>;
}

/** By the clock where the device has one, with counters and the model's terms beside it to explain it; else by the model. */
export async function measureCandidate(
  context: MeasureContext,
  { target, machine, inputs, count }: MeasureOptions,
): Promise<Measurement> {
  if (!target.measured) return modelledMeasurement(await count(context.candidate), machine);
  const measured = await measureWallClock(context);
  const sim = await openDevice("sim", { subgroup: target.subgroupSize });
  try {
    const { plan } = context.candidate;
    // A candidate need not look at all that a case gives.
    const taken = new Set(plan.buffers.map(({ name }) => name));
    const own = Object.fromEntries(Object.entries(inputs()).filter(([name]) => taken.has(name)));
    const bound = await bindPlan(sim, plan, { inputs: own, fill: "nan" });
    const { counters, details } = modelledMeasurement(await count(bound), machine);
    return { ...measured, counters, details: { ...measured.details, ...details } };
  } finally {
    await sim.close();
  }
}

/**
 * A prediction that is null where there is no kernel for the point, or it does not run on the simulator: that is for the
 * judge to see.
 */
export function orNull<P>(predict: (point: P) => Promise<number>): (point: P) => Promise<number | null> {
  return async (point) => {
    try {
      return await predict(point);
    } catch (error) {
      if (error instanceof EvolverError) return null;
      throw error;
    }
  };
}

/** Workgroups of a launch that are run for a prediction. */
const PREDICTION_SAMPLE = 4;

/** How `predictFromSample` predicts. */
export interface PredictOptions<P> {
  readonly machine: MachineProfile;
  readonly subgroupSize: number;
  inputs(): Inputs;
  plan(point: P): Plan;
}

/** Predicts times from a few workgroups of each launch, for plans whose workgroups all do the same. */
export function predictFromSample<P>(options: PredictOptions<P>): (point: P) => Promise<number | null> {
  const { machine, subgroupSize, inputs, plan } = options;
  const sim = openSim({ subgroup: subgroupSize, checks: false });
  return orNull(async (point: P) => {
    const bound = await bindPlan(sim, plan(point), { inputs: inputs() });
    try {
      return (await countPlan(bound, machine, PREDICTION_SAMPLE)).modelled.timeMs;
    } finally {
      bound.destroy();
    }
  });
}
