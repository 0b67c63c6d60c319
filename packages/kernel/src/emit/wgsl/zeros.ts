/**
 * Arithmetic of floats with a literal zero, over a literal infinity, and of a float with itself. Compilers of WGSL take a product
 * with zero for 0, though it is NaN for an infinity, a sum with it for the other term, though −0 + 0 is 0, and x − x for 0. So it
 * is done on bits, of which they take nothing.
 */

import { assertNever } from "@evolver/base";
import { isFloat, type ScalarType } from "../../ir/types.ts";
import { call, prefix, type Expression, type Operand } from "../core/expression.ts";
import type { HelperTable, RequestHelper } from "../core/helpers.ts";
import type { Operation, OperationTable } from "../core/operation-table.ts";

export const wgslZeroHelpers: HelperTable = {
  timesZero: {
    text: `// x * 0 and x / infinity: NaN for what is not finite, else a zero with the sign of x. Compilers take it for 0.
fn timesZero(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  return bitcast<f32>(select(bits & 0x80000000u, 0x7fc00000u, (bits & 0x7f800000u) == 0x7f800000u));
}`,
  },
  plusZero: {
    text: `// x + 0: 0 for -0. Compilers take it for x.
fn plusZero(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  return bitcast<f32>(select(bits, 0u, bits == 0x80000000u));
}`,
  },
  minusItself: {
    text: `// x - x: NaN for what is not finite. Compilers take it for 0.
fn minusItself(x: f32) -> f32 {
  return bitcast<f32>(select(0u, 0x7fc00000u, (bitcast<u32>(x) & 0x7f800000u) == 0x7f800000u));
}`,
  },
  overItself: {
    text: `// x / x: NaN for zeros and what is not finite. Compilers take it for 1.
fn overItself(x: f32) -> f32 {
  let size = bitcast<u32>(x) & 0x7fffffffu;
  return bitcast<f32>(select(0x3f800000u, 0x7fc00000u, size == 0u || size >= 0x7f800000u));
}`,
  },
  zeroOver: {
    text: `// 0 / x: NaN for a zero or NaN, else a zero with the sign of x. Compilers take it for 0.
fn zeroOver(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let size = bits & 0x7fffffffu;
  return bitcast<f32>(select(bits & 0x80000000u, 0x7fc00000u, size == 0u || size > 0x7f800000u));
}`,
  },
};

type Zero = "+0" | "-0" | null;

const zeroOf = ({ constant }: Operand): Zero =>
  constant !== 0 ? null : Object.is(constant, -0) ? "-0" : "+0";

/** Operations that take literal zeros as they are. */
export function withZeros(operations: OperationTable, nativeF16: boolean): OperationTable {
  const row = (op: "add" | "sub" | "mul" | "div" | "fma"): Operation => {
    const plain = operations[op];
    return (operands, context) => {
      if (!isFloat(context.result)) return plain(operands, context);
      const made = (expression: Expression): Operand => ({
        ...expression,
        type: context.result,
        constant: null,
      });
      const special = onBits(context.result, nativeF16, context.helper);
      const [a, b, c] = operands as [Operand, Operand, Operand?];
      const [zeroA, zeroB] = [zeroOf(a), zeroOf(b)];
      const product = (zero: Zero, other: Operand): Expression => {
        const size = special("timesZero", other);
        return zero === "-0" ? prefix("-", size) : size;
      };
      switch (op) {
        case "mul":
          if (zeroB !== null) return product(zeroB, a);
          return zeroA === null ? plain(operands, context) : product(zeroA, b);
        case "add":
          if (zeroB !== null) return zeroB === "-0" ? a : special("plusZero", a);
          if (zeroA !== null) return zeroA === "-0" ? b : special("plusZero", b);
          return plain(operands, context);
        case "sub": {
          if (a.constant === null && a.text === b.text) return special("minusItself", a);
          if (zeroB !== null) return zeroB === "+0" ? a : special("plusZero", a);
          if (zeroA === null) return plain(operands, context);
          const negated = made(prefix("-", b));
          return zeroA === "-0" ? negated : special("plusZero", negated);
        }
        case "div":
          if (a.constant === null && a.text === b.text) return special("overItself", a);
          // Over an infinity what is finite becomes a zero and the rest NaN, as it does times a zero.
          if (b.constant === Infinity) return product("+0", a);
          if (b.constant === -Infinity) return product("-0", a);
          if (zeroA === null) return plain(operands, context);
          return zeroA === "-0" ? prefix("-", special("zeroOver", b)) : special("zeroOver", b);
        case "fma": {
          const last = c as Operand;
          if (zeroB !== null) return rows.add([made(product(zeroB, a)), last], context);
          if (zeroA !== null) return rows.add([made(product(zeroA, b)), last], context);
          if (zeroOf(last) !== "+0") return plain(operands, context);
          return special("plusZero", made(operations.mul([a, b], context)));
        }
        default:
          return assertNever(op, "operation with a zero");
      }
    };
  };
  const rows = { add: row("add"), sub: row("sub"), mul: row("mul"), div: row("div"), fma: row("fma") };
  return { ...operations, ...rows };
}

/** Calls a function of f32 for a value of any type of floats: that which is no f32 in the text is one in value. */
const onBits =
  (type: ScalarType, nativeF16: boolean, helper: RequestHelper) =>
  (name: string, operand: Operand): Expression => {
    if (type !== "f16" || !nativeF16) return call(helper(name), operand);
    return call("f16", call(helper(name), call("f32", operand)));
  };
