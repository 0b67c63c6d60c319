/** `policy.json`: how the loop itself behaves. People and agents change it by editing and committing it. */

import { parseJsonWith, printJson } from "@evolver/base";
import * as v from "valibot";
import { samplerNames } from "../sampler/index.ts";

function within(least: number, most: number) {
  const range = `it must be a number from ${least} to ${most}`;
  return v.pipe(v.number(range), v.minValue(least, range), v.maxValue(most, range));
}

const wholeWithin = (least: number, most: number) =>
  v.pipe(within(least, most), v.safeInteger("it must be a whole number"));

const policySchema = v.pipe(
  v.strictObject({
    sampler: v.optional(
      v.pipe(
        v.string("it must be a name"),
        v.check(
          (name) => samplerNames.includes(name),
          ({ input }) => `there is no sampler "${input}"; use one of ${samplerNames.join(", ")}`,
        ),
      ),
      "evolutionary",
    ),
    trialsPerCycle: v.optional(wholeWithin(1, 1000), 6),
    /** Candidates that are proposed for each trial; where the study has a model of time, it chooses the one that is tried. */
    proposalsPerTrial: v.optional(wholeWithin(1, 100), 4),
    /** Share of proposals that ignore what was learnt. */
    explore: v.optional(within(0, 1), 0.1),
    /** Added to `explore` for each cycle in a row that kept nothing. */
    exploreWhenStuck: v.optional(within(0, 1), 0.1),
    /** The least relative gain that is kept, 0.001 for 0.1 %. */
    minimumGain: v.optional(within(0.001, 1), 0.001),
    /** How many standard errors a measured gain must exceed. */
    sigmas: v.optional(within(0, 10), 2),
    /** Of processor time, for one trial: build, verify and time. Past it the trial is tried again, and then has no verdict. */
    trialSeconds: v.optional(within(1, 86_400), 120),
  }),
  v.readonly(),
);

/** How the loop works: `policy.json` of a workspace. */
export type Policy = v.InferOutput<typeof policySchema>;

/** The policy of a workspace that has none of its own. */
export const DEFAULT_POLICY: Policy = v.parse(policySchema, {});

export const printPolicy = (policy: Policy): string => printJson(policy);

/** Missing fields take their defaults. @throws EvolverError POLICY_INVALID */
export function parsePolicy(text: string, path: string): Policy {
  return parseJsonWith(policySchema, text, {
    what: "the policy",
    file: path,
    code: "POLICY_INVALID",
    hint: `correct the file and commit it; the settings are ${Object.keys(DEFAULT_POLICY).join(", ")}`,
  });
}
