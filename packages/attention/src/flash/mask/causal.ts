import { clamp } from "@evolver/kernel";
import type { MaskRule } from "./rule.ts";

export const causalMask = (): MaskRule => (_first, last, keys) => ({
  from: 0,
  to: clamp(last.add(1), 0, keys),
});
