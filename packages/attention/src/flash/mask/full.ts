import type { MaskRule } from "./rule.ts";

export const fullMask = (): MaskRule => (_first, _last, keys) => ({ from: 0, to: keys });
