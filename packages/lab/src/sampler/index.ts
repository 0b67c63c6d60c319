/** The samplers by name. */

import { EvolverError } from "@evolver/base";
import { evolutionarySampler } from "./evolutionary.ts";
import { randomSampler } from "./random.ts";
import type { Sampler } from "./sampler.ts";

const samplers: readonly Sampler[] = [evolutionarySampler, randomSampler];

export const samplerNames: readonly string[] = samplers.map(({ name }) => name);

/** @throws EvolverError UNKNOWN_AGENT */
export function samplerNamed(name: string): Sampler {
  const sampler = samplers.find((candidate) => candidate.name === name);
  if (sampler) return sampler;
  throw new EvolverError("UNKNOWN_AGENT", `There is no agent or sampler called ${name}.`, {
    hint: `use one of ${samplerNames.join(", ")}`,
  });
}
