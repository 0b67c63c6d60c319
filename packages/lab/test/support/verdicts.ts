/** A verdict with nothing in it, for tests to fill in. */

import { failedVerdict, type Verdict } from "@evolver/lab";

export const emptyVerdict: Verdict = { ...failedVerdict("build-failed", ""), status: "ok" };
