/** Which limits of rows an access may reach beyond. Checks that cannot fail are left out. */

import { findRanges, visitNodes } from "@evolver/kernel";
import type { IndexLimit, KernelIR, Node, ValueRange, Value } from "@evolver/kernel";

/** The limits of nodes that may be violated. */
export function openLimits(ir: KernelIR): ReadonlyMap<Node, readonly IndexLimit[]> {
  const rangeOf = findRanges(ir);
  const of = (value: Value | number): ValueRange =>
    typeof value === "number" ? [value, value] : rangeOf(value);
  const open = new Map<Node, readonly IndexLimit[]>();
  visitNodes(ir.body, (node) => {
    const left = (node.limits ?? []).filter(({ index, width, extent }) => {
      const [[least, greatest], [end]] = [of(index), of(extent)];
      return !(least >= 0 && greatest + width <= end);
    });
    if (left.length > 0) open.set(node, left);
  });
  return open;
}
