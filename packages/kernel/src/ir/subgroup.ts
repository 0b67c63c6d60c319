/** The signatures of subgroup operations, beside those of pure operations in ops.ts. */

import type { SubgroupOp } from "./nodes.ts";
import { isFloat, isInteger, type ScalarType } from "./types.ts";

const isNumeric = (type: ScalarType): boolean => isFloat(type) || isInteger(type);

/** Result types of a subgroup operation at subgroup width `width`, or null if it does not take the operands. */
export function subgroupResults(
  op: SubgroupOp,
  operands: readonly ScalarType[],
  width: number,
): readonly ScalarType[] | null {
  const [first, second] = operands;
  if (first === undefined) return null;
  const alone = operands.length === 1;
  switch (op) {
    case "any":
    case "all":
      return alone && first === "bool" ? ["bool"] : null;
    case "ballot":
      return alone && first === "bool" ? Array.from({ length: Math.ceil(width / 32) }, () => "u32") : null;
    case "sum":
    case "min":
    case "max":
    case "broadcastFirst":
    case "inclusiveSum":
    case "exclusiveSum":
      return alone && isNumeric(first) ? [first] : null;
    case "broadcast":
    case "shuffle":
    case "shuffleXor":
    case "shuffleUp":
    case "shuffleDown":
      return operands.length === 2 && isNumeric(first) && second === "u32" ? [first] : null;
    default:
      return null;
  }
}
