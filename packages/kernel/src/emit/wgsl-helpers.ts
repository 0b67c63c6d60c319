/** The text of the functions and module variables that emitted WGSL may need. */

import type { Helper, HelperTable } from "./rows.ts";

const SPACES = [
  ["Storage", "storage, ", ", read_write"],
  ["Workgroup", "workgroup, ", ""],
] as const;

const atomics: HelperTable = Object.fromEntries(
  SPACES.flatMap(([space, before, after]): [string, Helper][] => {
    const pointer = (type: string): string => `ptr<${before}atomic<${type}>${after}>`;
    const exchange = (type: string): [string, Helper] => [
      `compareExchange${space}${type.toUpperCase()}`,
      {
        text: `fn compareExchange${space}${type.toUpperCase()}(address: ${pointer(type)}, expected: ${type}, desired: ${type}) -> ${type} {
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

/** Functions at NaN and at the ends of their domains, where WGSL promises nothing and GPUs differ. */
const atTheEnds: HelperTable = {
  expF32: {
    text: `fn expF32(x: f32) -> f32 {
  return select(exp(x), x, isNan(x));
}`,
    needs: ["isNan"],
  },
  exp2F32: {
    text: `fn exp2F32(x: f32) -> f32 {
  return select(exp2(x), x, isNan(x));
}`,
    needs: ["isNan"],
  },
  tanhF32: {
    text: `// Beyond 10 it is 1, though many a GPU overflows on the way.
fn tanhF32(x: f32) -> f32 {
  return select(tanh(clamp(x, -10.0f, 10.0f)), x, isNan(x));
}`,
    needs: ["isNan"],
  },
  ...Object.fromEntries(
    ["log", "log2"].map((name): [string, Helper] => [
      `${name}F32`,
      {
        text: `fn ${name}F32(x: f32) -> f32 {
  let infinity = bitcast<f32>(infinityBits);
  if (isNan(x) || x < 0.0f) {
    return bitcast<f32>(nanBits);
  }
  return select(select(${name}(x), infinity, x == infinity), -infinity, x == 0.0f);
}`,
        needs: ["isNan", "infinityBits", "nanBits"],
      },
    ]),
  ),
};

/** Exact reductions for a subgroup of `width` lanes. */
function reductions(width: number): HelperTable {
  const steps: number[] = [];
  for (let offset = width / 2; offset >= 1; offset /= 2) steps.push(offset);
  const butterfly = (name: string, combine: (other: string) => string): Helper => ({
    text: `fn ${name}(value: f32) -> f32 {
  var result = value;
${steps.map((offset) => `  result = ${combine(`subgroupShuffleXor(result, ${offset}u)`)};`).join("\n")}
  return result;
}`,
  });
  return {
    subgroupSumF32: {
      text: `// The order of a subgroup's sum is a butterfly, so that it has the same bits everywhere.
${butterfly("subgroupSumF32", (other) => `result + ${other}`).text}`,
    },
    subgroupMinF32: butterfly("subgroupMinF32", (other) => `min(result, ${other})`),
    subgroupMaxF32: butterfly("subgroupMaxF32", (other) => `max(result, ${other})`),
    inclusiveSumF32: {
      text: `// The sum over the lanes up to this one.
fn inclusiveSumF32(value: f32, lane: u32) -> f32 {
  var sum = value;
${steps
  .toReversed()
  .map((offset) => `  sum = select(sum, subgroupShuffleUp(sum, ${offset}u) + sum, lane >= ${offset}u);`)
  .join("\n")}
  return sum;
}`,
    },
    exclusiveSumF32: {
      text: `fn exclusiveSumF32(value: f32, lane: u32) -> f32 {
  return select(subgroupShuffleUp(inclusiveSumF32(value, lane), 1u), 0.0f, lane == 0u);
}`,
      needs: ["inclusiveSumF32"],
    },
  };
}

export function wgslHelpers(width: number): HelperTable {
  return {
    infinityBits: {
      text: "// WGSL has no literal for these; a constant expression must not give them either.\nvar<private> infinityBits: u32 = 0x7f800000u;",
    },
    nanBits: { text: "var<private> nanBits: u32 = 0x7fc00000u;" },
    // Compilers take a literal -0.0 for 0.0.
    negativeZeroBits: { text: "var<private> negativeZeroBits: u32 = 0x80000000u;" },
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
    ...atTheEnds,
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
    ...reductions(width),
  };
}
