/** `policy.json`: what is no policy is refused, by the setting that is wrong. */

import { expect, it } from "vitest";
import { DEFAULT_POLICY, parsePolicy } from "../src/workspace/policy.ts";

it("missing settings take their defaults", () => {
  expect(parsePolicy("{}", "policy.json")).toEqual(DEFAULT_POLICY);
  expect(parsePolicy('{ "sampler": "random", "sigmas": 3 }', "policy.json")).toEqual({
    ...DEFAULT_POLICY,
    sampler: "random",
    sigmas: 3,
  });
});

it.each([
  ["{", /it is not JSON/],
  ["[]", /it is not an object/],
  ['{ "sampler": "zzz" }', /there is no sampler "zzz"; use one of evolutionary, random/],
  ['{ "sampler": 3 }', /sampler must be a name/],
  ['{ "speed": 3 }', /it has no setting "speed"/],
  ['{ "toString": 3 }', /it has no setting "toString"/],
  ['{ "__proto__": {} }', /it has no setting "__proto__"/],
  ['{ "explore": 2 }', /explore must be a number from 0 to 1/],
  ['{ "trialsPerCycle": 1.5 }', /trialsPerCycle must be a whole number/],
])("%s is refused", (text, message) => {
  expect(() => parsePolicy(text, "policy.json")).toThrow(message);
  expect(() => parsePolicy(text, "policy.json")).toThrow(expect.objectContaining({ code: "POLICY_INVALID" }));
});
