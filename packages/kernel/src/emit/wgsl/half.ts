/**
 * f16 and bf16 where WGSL lacks them: values are f32, rounded by integer arithmetic after each operation. WGSL itself
 * promises neither the rounding of conversions nor subnormal numbers. packed.ts has how memory holds them.
 */

import type { OpName } from "../../ir/ops.ts";
import { isHalf, type HalfType } from "../../ir/types.ts";
import { call, type Expression, type Operand } from "../core/expression.ts";
import { ofType, type HelperTable, type RequestHelper } from "../core/helpers.ts";
import type { Operation, OperationTable } from "../core/operation-table.ts";

const fused = (type: HalfType, precision: number, least: number, result: string): string =>
  `// a·b + c with one rounding, in integers: 22 bits of product beside 11 bits of c, with a bit for what is shifted out.
fn ${ofType("fma", type)}(a: f32, b: f32, c: f32) -> f32 {
  let bits = vec3<u32>(bitcast<u32>(a), bitcast<u32>(b), bitcast<u32>(c));
  let magnitudes = bits & vec3<u32>(0x7fffffffu);
  if (magnitudes.z == 0x7f800000u && all(magnitudes.xy < vec2<u32>(0x7f800000u))) {
    return c;
  }
  if (any(magnitudes >= vec3<u32>(0x7f800000u)) || magnitudes.x == 0u || magnitudes.y == 0u) {
    return a * b + c;
  }
  let exponents = vec3<i32>(max(magnitudes >> vec3<u32>(23u), vec3<u32>(1u)));
  let integers = select((bits & vec3<u32>(0x7fffffu)) | vec3<u32>(0x800000u), bits & vec3<u32>(0x7fffffu), magnitudes < vec3<u32>(0x800000u)) >> vec3<u32>(13u);
  var large = integers.x * integers.y;
  var largeExponent = exponents.x + exponents.y - 274i;
  var isLargeNegative = ((bits.x ^ bits.y) >> 31u) == 1u;
  var small = integers.z;
  var smallExponent = exponents.z - 137i;
  var isSmallNegative = (bits.z >> 31u) == 1u;
  let largeShift = countLeadingZeros(large) - 2u;
  large <<= largeShift;
  largeExponent -= i32(largeShift);
  if (small != 0u) {
    let smallShift = countLeadingZeros(small) - 2u;
    small <<= smallShift;
    smallExponent -= i32(smallShift);
    if (smallExponent > largeExponent) {
      let held = vec2<u32>(large, small);
      large = held.y;
      small = held.x;
      let heldExponent = largeExponent;
      largeExponent = smallExponent;
      smallExponent = heldExponent;
      let heldSign = isLargeNegative;
      isLargeNegative = isSmallNegative;
      isSmallNegative = heldSign;
    }
    let distance = u32(min(largeExponent - smallExponent, 31i));
    let lost = small & ((1u << distance) - 1u);
    small = (small >> distance) | select(0u, 1u, lost != 0u);
  }
  let sum = select(i32(large), -i32(large), isLargeNegative) + select(i32(small), -i32(small), isSmallNegative);
  if (sum == 0i) {
    return 0.0f;
  }
  let whole = u32(abs(sum));
  let unit = max(largeExponent + 31i - i32(countLeadingZeros(whole)) - ${precision - 1}i, ${least}i);
  let dropped = unit - largeExponent;
  var kept = 0u;
  if (dropped <= 0i) {
    kept = whole << u32(-dropped);
  } else if (dropped < 32i) {
    kept = whole >> u32(dropped);
    let rest = whole & ((1u << u32(dropped)) - 1u);
    let half = 1u << u32(dropped - 1i);
    if (rest > half || (rest == half && (kept & 1u) == 1u)) {
      kept++;
    }
  }
  ${result}
  return bitcast<f32>(rounded | select(0u, 0x80000000u, sum < 0i));
}`;

export const wgslHalfHelpers: HelperTable = {
  roundF16: {
    text: `// To the nearest f16, ties to even.
fn roundF16(x: f32) -> f32 {
  let magnitude = bitcast<u32>(x) & 0x7fffffffu;
  var rounded = (magnitude + 0xfffu + ((magnitude >> 13u) & 1u)) & 0xffffe000u;
  if (magnitude > 0x7f800000u) {
    return x;
  }
  if (magnitude >= 0x477ff000u) {
    rounded = 0x7f800000u;
  } else if (magnitude < 0x38800000u) {
    // Subnormal numbers are integers in units of 2^-24.
    rounded = bitcast<u32>(round(abs(x) * 16777216.0f) * 5.9604644775390625e-8f);
  }
  return bitcast<f32>(rounded | (bitcast<u32>(x) & 0x80000000u));
}`,
  },
  roundBF16: {
    text: `// To the nearest bf16, ties to even.
fn roundBF16(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  return select(bitcast<f32>((bits + 0x7fffu + ((bits >> 16u) & 1u)) & 0xffff0000u), x, isNan(x));
}`,
    needs: ["isNan"],
  },
  expandF16: {
    text: `// The number whose f16 bits are the low ones.
fn expandF16(bits: u32) -> f32 {
  let magnitude = bits & 0x7fffu;
  let small = bitcast<u32>(f32(magnitude) * 5.9604644775390625e-8f);
  let normal = (magnitude << 13u) + select(0x38000000u, 0x70000000u, magnitude >= 0x7c00u);
  return bitcast<f32>(select(normal, small, magnitude < 0x400u) | ((bits & 0x8000u) << 16u));
}`,
  },
  expandBF16: {
    text: `// The number whose bf16 bits are the low ones.
fn expandBF16(bits: u32) -> f32 {
  return bitcast<f32>(bits << 16u);
}`,
  },
  bitsOfF16: {
    text: `// The bits of a number that is exact in f16; every NaN gives the same.
fn bitsOfF16(x: f32) -> u32 {
  let magnitude = bitcast<u32>(x) & 0x7fffffffu;
  let sign = (bitcast<u32>(x) >> 16u) & 0x8000u;
  if (magnitude > 0x7f800000u) {
    return 0x7e00u;
  }
  if (magnitude < 0x38800000u) {
    return sign | u32(abs(x) * 16777216.0f);
  }
  return sign | min((magnitude - 0x38000000u) >> 13u, 0x7c00u);
}`,
  },
  bitsOfBF16: {
    text: `// The bits of a number that is exact in bf16; every NaN gives the same.
fn bitsOfBF16(x: f32) -> u32 {
  return select(bitcast<u32>(x) >> 16u, 0x7fc0u, isNan(x));
}`,
    needs: ["isNan"],
  },
  fmaF16: {
    text: fused(
      "f16",
      11,
      -24,
      `// No f16 is 65536 or more.
  let scaled = f32(kept) * bitcast<f32>(u32(unit + 127i) << 23u);
  let rounded = select(bitcast<u32>(scaled), 0x7f800000u, scaled >= 65536.0f);`,
    ),
  },
  fmaBF16: {
    text: fused(
      "bf16",
      8,
      -133,
      `// The bits themselves: at the least unit the number is subnormal, and a carry goes into the exponent.
  let rounded = min((u32(min(unit, 121i) + 133i) << 23u) + (kept << 16u), 0x7f800000u);`,
    ),
  },
  ...Object.fromEntries(
    (
      [
        ["Storage", "ptr<storage, atomic<u32>, read_write>"],
        ["Workgroup", "ptr<workgroup, atomic<u32>>"],
      ] as const
    ).map(([space, pointer]) => [
      `storeHalf${space}`,
      {
        text: `// Stores 16 bits of a word; the other ones may belong to another invocation.
fn storeHalf${space}(word: ${pointer}, index: u32, bits: u32) {
  let shift = 16u * (index & 1u);
  atomicAnd(word, ~(0xffffu << shift));
  atomicOr(word, bits << shift);
}`,
      },
    ]),
  ),
};

/** Operations whose result in f32 is exact in the shorter type of their operands. Others are rounded. */
const EXACT: ReadonlySet<OpName> = new Set(["min", "max", "neg", "abs", "floor", "ceil", "round", "trunc"]);

type WordOperations = Omit<OperationTable, "toF16" | "toBF16">;

/** The rows of WGSL with those of two-byte types; f16 itself is left alone where WGSL has it and defines its rounding. */
export function withHalves(operations: WordOperations, hasF16: boolean): OperationTable {
  const isNative = (type: unknown): boolean => hasF16 && type === "f16";
  /** An operand of any floating-point type as f32. */
  const widened = (operand: Operand): Operand => {
    if (isNative(operand.type)) return { ...operand, ...call("f32", operand), type: "f32" };
    return isHalf(operand.type) ? { ...operand, type: "f32" } : operand;
  };
  const narrowed = (type: HalfType, value: Expression, helper: RequestHelper): Expression => {
    const rounded = call(helper(ofType("round", type)), value);
    return isNative(type) ? call("f16", rounded) : rounded;
  };
  const rounding =
    (target: HalfType): Operation =>
    ([operand], { helper }) => {
      const a = operand as Operand;
      return a.type === target ? a : narrowed(target, widened(a), helper);
    };
  const extended = (name: keyof WordOperations): Operation => {
    const operation = operations[name];
    return (operands, context) => {
      const type = operands.at(-1)?.type;
      if (!isHalf(type) || name === "select") return operation(operands, context);
      const wide = operands.map(widened);
      if (name === "toF32") return wide[0] as Operand;
      // WGSL's division and square root are not exact in any type; from f32 they round rightly.
      if (isNative(type) && name !== "div" && name !== "sqrt") return operation(operands, context);
      if (name === "fma") {
        context.note(`fma of ${type}`, "integer arithmetic", true);
        return call(context.helper(ofType("fma", type)), ...wide);
      }
      if (!isHalf(context.result)) return operation(wide, context);
      const result = operation(wide, { ...context, result: "f32" });
      if (EXACT.has(name)) return result;
      context.note(`${name} of ${type}`, `f32, rounded to ${type}`, true);
      return narrowed(type, result, context.helper);
    };
  };
  const names = Object.keys(operations) as (keyof WordOperations)[];
  const all = Object.fromEntries(names.map((name) => [name, extended(name)])) as WordOperations;
  return { ...all, toF16: rounding("f16"), toBF16: rounding("bf16") } as OperationTable;
}
