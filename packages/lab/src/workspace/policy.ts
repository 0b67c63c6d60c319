/** `policy.json`: how the loop itself behaves. People and agents change it by editing and committing it. */

import { EvolverError } from "@evolver/base";
import { samplerNames } from "../sampler/index.ts";

export interface Policy {
  readonly sampler: string;
  readonly trialsPerCycle: number;
  /** Candidates that are proposed for each trial; where the study has a model of time, it chooses the one that is tried. */
  readonly proposalsPerTrial: number;
  /** Share of proposals that ignore what was learnt, 0 to 1. */
  readonly explore: number;
  /** Added to `explore` for each cycle in a row that kept nothing. */
  readonly exploreWhenStuck: number;
  /** The least relative gain that is kept, 0.001 for 0.1 %. */
  readonly minimumGain: number;
  /** How many standard errors a measured gain must exceed. */
  readonly sigmas: number;
  /** For one trial: build, verify and time. */
  readonly trialSeconds: number;
}

export const DEFAULT_POLICY: Policy = {
  sampler: "evolutionary",
  trialsPerCycle: 6,
  proposalsPerTrial: 4,
  explore: 0.1,
  exploreWhenStuck: 0.1,
  minimumGain: 0.001,
  sigmas: 2,
  trialSeconds: 120,
};

const RANGES: Readonly<Record<Exclude<keyof Policy, "sampler">, readonly [number, number]>> = {
  trialsPerCycle: [1, 1000],
  proposalsPerTrial: [1, 100],
  explore: [0, 1],
  exploreWhenStuck: [0, 1],
  minimumGain: [0.001, 1],
  sigmas: [0, 10],
  trialSeconds: [1, 86_400],
};

export function printPolicy(policy: Policy): string {
  return `${JSON.stringify(policy, null, 2)}\n`;
}

/** Missing fields take their defaults. @throws EvolverError POLICY_INVALID */
export function parsePolicy(text: string, path: string): Policy {
  const invalid = (what: string): EvolverError =>
    new EvolverError("POLICY_INVALID", `${path}: ${what}`, { hint: "correct the file and commit it" });
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw invalid("it is not JSON.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid("it is not an object.");
  const policy = { ...DEFAULT_POLICY, ...value };
  for (const name of Object.keys(value))
    if (!Object.hasOwn(DEFAULT_POLICY, name)) throw invalid(`it has no setting "${name}".`);
  if (typeof policy.sampler !== "string") throw invalid("sampler must be a name.");
  if (!samplerNames.includes(policy.sampler))
    throw invalid(`there is no sampler "${policy.sampler}"; use one of ${samplerNames.join(", ")}.`);
  for (const [name, [least, most]] of Object.entries(RANGES)) {
    const setting: unknown = policy[name as keyof typeof RANGES];
    if (typeof setting !== "number" || !(setting >= least && setting <= most))
      throw invalid(`${name} must be a number from ${least} to ${most}.`);
  }
  for (const name of ["trialsPerCycle", "proposalsPerTrial"] as const)
    if (!Number.isSafeInteger(policy[name])) throw invalid(`${name} must be a whole number.`);
  return policy;
}
