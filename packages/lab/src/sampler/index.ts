/** The samplers by name. */

import { EvolverError } from "@evolver/kernel";
import { evolutionarySampler } from "./evolutionary.ts";
import { randomSampler } from "./random.ts";
import type { Sampler } from "./sampler.ts";

const samplers: readonly Sampler[] = [evolutionarySampler, randomSampler];

/** @throws EvolverError AGENT_UNKNOWN */
export function samplerNamed(name: string): Sampler {
  const sampler = samplers.find((candidate) => candidate.name === name);
  if (sampler) return sampler;
  const names = samplers.map((candidate) => candidate.name).join(", ");
  throw new EvolverError("AGENT_UNKNOWN", `There is no agent or sampler called ${name}.`, {
    hint: `use one of ${names}`,
  });
}
