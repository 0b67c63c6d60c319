/** Which keys a query sees. Positions and keys are i32: under a causal mask, key p is the last that position p sees. */

import type { Mask } from "../../problem.ts";
import type { ScalarSymbols } from "../scalars.ts";
import { causalMask } from "./causal.ts";
import { fullMask } from "./full.ts";
import { windowMask } from "./window.ts";
import type { MaskRule } from "./rule.ts";

export const maskRules: Record<Mask["kind"], (scalars: ScalarSymbols) => MaskRule> = {
  full: fullMask,
  causal: causalMask,
  window: windowMask,
};
