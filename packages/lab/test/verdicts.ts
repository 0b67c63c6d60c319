/** A verdict with nothing in it, for tests to fill in. */

import type { Verdict } from "@evolver/lab";

export const emptyVerdict: Verdict = {
  status: "ok",
  reason: "",
  hash: null,
  error: null,
  bound: null,
  timeMs: null,
  timeKind: null,
  noise: 0,
  championTimeMs: null,
  counters: null,
  details: {},
  cases: [],
};
