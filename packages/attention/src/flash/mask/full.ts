import type { MaskRule } from "./rule.ts";

export const fullMask = (): MaskRule => ({
  range: (_first, _last, keys) => ({ from: 0, to: keys }),
  sees: () => null,
  seesAll: () => null,
});
