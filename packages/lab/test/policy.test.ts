/** `policy.json`: what is no policy is refused, by the setting that is wrong. */

import { expect, it } from "vitest";
import { DEFAULT_POLICY } from "@evolver/lab";
import { parsePolicy } from "@evolver/lab/internal";

it("missing settings take their defaults", () => {
  expect(parsePolicy("{}", "policy.json")).toEqual(DEFAULT_POLICY);
  expect(parsePolicy('{ "sampler": "random", "sigmas": 3 }', "policy.json")).toEqual({
    ...DEFAULT_POLICY,
    sampler: "random",
    sigmas: 3,
  });
});

it.each([
  ["{", /the policy policy\.json is not JSON/],
  ["[]", /is an empty list; it must be an object/],
  ['{ "sampler": "zzz" }', /"sampler" is "zzz"; there is no sampler "zzz"; use one of evolutionary, random/],
  ['{ "sampler": 3 }', /"sampler" is 3; it must be a name/],
  ['{ "speed": 3 }', /"speed" is unknown[^]*the settings are sampler, trialsPerCycle/],
  ['{ "toString": 3 }', /"toString" is unknown/],
  ['{ "__proto__": {} }', /"__proto__" is unknown/],
  ['{ "explore": 2 }', /"explore" is 2; it must be a number from 0 to 1/],
  ['{ "trialsPerCycle": 1.5 }', /"trialsPerCycle" is 1.5; it must be a whole number/],
])("%s is refused", (text, message) => {
  expect(() => parsePolicy(text, "policy.json")).toThrow(message);
  expect(() => parsePolicy(text, "policy.json")).toThrow(expect.objectContaining({ code: "POLICY_INVALID" }));
});
