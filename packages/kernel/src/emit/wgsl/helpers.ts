/** The text of the functions and module variables that emitted WGSL may need. */

import type { IntegerType } from "../../ir/types.ts";
import { ofType, type Helper, type HelperTable } from "../core/helpers.ts";
import { wgslFunctions } from "./functions.ts";
import { wgslHalfHelpers } from "./half.ts";
import { wgslZeroHelpers } from "./zeros.ts";

const SPACES = [
  ["Storage", "storage, ", ", read_write"],
  ["Workgroup", "workgroup, ", ""],
] as const;

const atomics: HelperTable = Object.fromEntries(
  SPACES.flatMap(([space, before, after]): [string, Helper][] => {
    const pointer = (type: string): string => `ptr<${before}atomic<${type}>${after}>`;
    const exchange = (type: IntegerType): [string, Helper] => [
      ofType(`compareExchange${space}`, type),
      {
        text: `fn ${ofType(`compareExchange${space}`, type)}(address: ${pointer(type)}, expected: ${type}, desired: ${type}) -> ${type} {
  loop {
    let attempt = atomicCompareExchangeWeak(address, expected, desired);
    if (attempt.exchanged || attempt.old_value != expected) {
      return attempt.old_value;
    }
  }
}`,
      },
    ];
    return [
      exchange("u32"),
      exchange("i32"),
      [
        `atomicAddF32${space}`,
        {
          text: `// WGSL has no atomic f32: the bits are exchanged until nobody else came between.
fn atomicAddF32${space}(address: ${pointer("u32")}, value: f32) -> f32 {
  var before = atomicLoad(address);
  loop {
    let sum = bitcast<u32>(bitcast<f32>(before) + value);
    let attempt = atomicCompareExchangeWeak(address, before, sum);
    if (attempt.exchanged) {
      return bitcast<f32>(before);
    }
    before = attempt.old_value;
  }
}`,
        },
      ],
    ];
  }),
);

/** Exact reductions for a subgroup of `width` lanes. */
function reductions(width: number, hasF16: boolean): HelperTable {
  const steps: number[] = [];
  for (let offset = width / 2; offset >= 1; offset /= 2) steps.push(offset);
  const butterfly = (name: string, combine: (other: string) => string, type = "f32"): Helper => ({
    text: `fn ${name}(value: ${type}) -> ${type} {
  var result = value;
${steps.map((offset) => `  result = ${combine(`subgroupShuffleXor(result, ${offset}u)`)};`).join("\n")}
  return result;
}`,
  });
  /** `round` says how a step is rounded to the type. */
  const sums = (
    name: string,
    type: string,
    round: (sum: string) => string,
    needs: readonly string[],
  ): HelperTable => ({
    [`subgroupSum${name}`]: {
      text: `// The order of a subgroup's sum is a butterfly, so that it has the same bits everywhere.
${butterfly(`subgroupSum${name}`, (other) => round(`result + ${other}`), type).text}`,
      needs,
    },
    [`inclusiveSum${name}`]: {
      text: `// The sum over the lanes up to this one.
fn inclusiveSum${name}(value: ${type}, lane: u32) -> ${type} {
  var sum = value;
${steps
  .toReversed()
  .map((offset) => {
    const next = round(`subgroupShuffleUp(sum, ${offset}u) + sum`);
    return `  sum = select(sum, ${next}, lane >= ${offset}u);`;
  })
  .join("\n")}
  return sum;
}`,
      needs,
    },
    [`exclusiveSum${name}`]: {
      text: `fn exclusiveSum${name}(value: ${type}, lane: u32) -> ${type} {
  return select(subgroupShuffleUp(inclusiveSum${name}(value, lane), 1u), ${type}(0), lane == 0u);
}`,
      needs: [`inclusiveSum${name}`],
    },
  });
  const f16 = hasF16 ? "f16" : "f32";
  return {
    ...sums("F16", f16, (sum) => (hasF16 ? sum : `roundF16(${sum})`), hasF16 ? [] : ["roundF16"]),
    ...sums("BF16", "f32", (sum) => `roundBF16(${sum})`, ["roundBF16"]),
    subgroupMinF16: butterfly("subgroupMinF16", (other) => `min(result, ${other})`, f16),
    subgroupMaxF16: butterfly("subgroupMaxF16", (other) => `max(result, ${other})`, f16),
    subgroupMinF32: butterfly("subgroupMinF32", (other) => `min(result, ${other})`),
    subgroupMaxF32: butterfly("subgroupMaxF32", (other) => `max(result, ${other})`),
    ...sums("F32", "f32", (sum) => sum, []),
  };
}

export function wgslHelpers(width: number, hasF16: boolean): HelperTable {
  return {
    infinityBits: {
      text: "// WGSL has no literal for these; a constant expression must not give them either.\nvar<private> infinityBits: u32 = 0x7f800000u;",
    },
    nanBits: { text: "var<private> nanBits: u32 = 0x7fc00000u;" },
    // Compilers take a literal -0.0 for 0.0.
    negativeZeroBits: { text: "var<private> negativeZeroBits: u32 = 0x80000000u;" },
    [ofType("advance", "u32")]: {
      text: `// The next index of a loop: where it would pass the end, the end, so that it never wraps around.
fn ${ofType("advance", "u32")}(i: u32, step: u32, end: u32) -> u32 {
  return select(end, i + step, end - i > step);
}`,
    },
    [ofType("advance", "i32")]: {
      text: `// The next index of a loop: where it would pass the end, the end, so that it never wraps around.
fn ${ofType("advance", "i32")}(i: i32, step: i32, end: i32) -> i32 {
  let left = select(u32(i) - u32(end), u32(end) - u32(i), step > 0i);
  return select(end, i + step, left > select(0u - u32(step), u32(step), step > 0i));
}`,
    },
    divideFloor: {
      text: `fn divideFloor(a: i32, b: i32) -> i32 {
  let quotient = a / b;
  return select(quotient, quotient - 1i, b != 0i && a % b != 0i && ((a < 0i) != (b < 0i)));
}`,
    },
    moduloOf: {
      text: `fn moduloOf(a: i32, b: i32) -> i32 {
  let remainder = a % b;
  return select(remainder, remainder + b, remainder != 0i && ((a < 0i) != (b < 0i)));
}`,
    },
    isNan: {
      text: `// Compilers may take it that no number is NaN; of bits they cannot.
fn isNan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}`,
    },
    ...wgslFunctions,
    ...wgslZeroHelpers,
    u32ToF32: {
      text: `// Rounded once, to nearest: WGSL's own conversion need not be.
fn u32ToF32(x: u32) -> f32 {
  return f32(x >> 16u) * 65536.0f + f32(x & 0xffffu);
}`,
    },
    floatBits: {
      text: `// The bits of a float; every NaN gives the same.
fn floatBits(x: f32) -> u32 {
  return select(bitcast<u32>(x), 0x7fc00000u, isNan(x));
}`,
      needs: ["isNan"],
    },
    f32ToI32: {
      text: `fn f32ToI32(x: f32) -> i32 {
  if (isNan(x)) {
    return 0i;
  }
  return select(select(i32(x), 2147483647i, x >= 2147483648.0f), i32(-2147483648), x <= -2147483648.0f);
}`,
      needs: ["isNan"],
    },
    f32ToU32: {
      text: `fn f32ToU32(x: f32) -> u32 {
  return select(select(0u, u32(x), x > 0.0f), 4294967295u, x >= 4294967296.0f);
}`,
    },
    ...atomics,
    ...wgslHalfHelpers,
    ...reductions(width, hasF16),
  };
}
