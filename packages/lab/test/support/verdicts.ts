/** A verdict with nothing in it, for tests to fill in. */

import type { Verdict } from "@evolver/lab";
import { failedVerdict } from "@evolver/lab/internal";

export const emptyVerdict: Verdict = { ...failedVerdict("build-failed", ""), status: "ok" };
