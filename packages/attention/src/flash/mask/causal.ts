import { clamp } from "@evolver/kernel";
import type { MaskRule } from "./rule.ts";

export const causalMask = (): MaskRule => ({
  range: (_first, last, keys) => ({ from: 0, to: clamp(last.add(1), 0, keys) }),
  sees: (position, key) => key.le(position),
  seesAll: (first, _last, _from, to) => to.sub(1).le(first),
});
