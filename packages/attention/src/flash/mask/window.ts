import { clamp } from "@evolver/kernel";
import type { ScalarSymbols } from "../scalars.ts";
import type { MaskRule } from "./rule.ts";

export const windowMask = ({ left, right }: ScalarSymbols): MaskRule => ({
  range: (first, last, keys) => ({
    from: clamp(first.sub(left), 0, keys),
    to: clamp(last.add(right).add(1), 0, keys),
  }),
  sees: (position, key) => key.ge(position.sub(left)).and(key.le(position.add(right))),
  seesAll: (first, last, from, to) => from.ge(last.sub(left)).and(to.sub(1).le(first.add(right))),
});
