/** Finds the model's constants: a seeded search that changes some of them at a time and keeps what fits better. */

import { MODEL_CONSTANTS, type MachineProfile, type ModelConstants } from "@evolver/machine";
import { mean, Random } from "@evolver/base";
import type { Pair } from "./predict.ts";

const LIMITS: Readonly<Record<keyof ModelConstants, readonly [number, number]>> = {
  busyExponent: [1, 8],
  latencyExponent: [1, 8],
  loneClocks: [0.5, 6],
  readsInFlight: [1, 64],
  integerShare: [0.01, 1],
};
const STEPS = 2500;
/** Width of a step on a logarithmic scale, at first and at the end. */
const WIDTHS = [0.35, 0.03] as const;
const CHANGED = 0.5;
/** How much the root mean square counts beside the mean: outliers matter, but not most of all. */
const OUTLIERS = 0.3;

export function fitConstants(pairs: readonly Pair[], machine: MachineProfile, seed: number): ModelConstants {
  const random = new Random(seed);
  let best = MODEL_CONSTANTS;
  let least = lossOf(pairs, machine, best);
  for (let step = 0; step < STEPS; step++) {
    const width = WIDTHS[0] * (WIDTHS[1] / WIDTHS[0]) ** (step / STEPS);
    const changed = Object.fromEntries(
      Object.entries(LIMITS).map(([name, [low, high]]) => {
        const value = best[name as keyof ModelConstants];
        if (random.uniform() > CHANGED) return [name, value];
        return [name, Math.min(high, Math.max(low, value * Math.exp(width * random.normal())))];
      }),
    ) as unknown as ModelConstants;
    const loss = lossOf(pairs, machine, changed);
    if (loss < least) [best, least] = [changed, loss];
  }
  return best;
}

/** Of the logarithms of predicted over measured: the mean of their sizes, and some of their root mean square. */
export function lossOf(pairs: readonly Pair[], machine: MachineProfile, constants: ModelConstants): number {
  const errors = pairs.map(({ prediction, timeMs }) =>
    Math.log(prediction.model(machine, constants).timeMs / timeMs),
  );
  return mean(errors.map(Math.abs)) + OUTLIERS * Math.sqrt(mean(errors.map((error) => error * error)));
}
