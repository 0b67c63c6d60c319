import { max, select } from "@evolver/kernel";
import type { ScalarSymbols } from "../scalars.ts";
import type { MaskRule } from "./rule.ts";

export const windowMask =
  ({ left, right }: ScalarSymbols): MaskRule =>
  (first, last, keys) => ({
    from: select(first.gt(left), first.sub(left), 0),
    to: select(keys.sub(last).gt(right), max(last.add(right).add(1), 0), keys),
  });
