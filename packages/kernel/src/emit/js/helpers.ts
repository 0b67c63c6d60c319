/**
 * The text of the functions that emitted JavaScript may need, so that the module stands alone. They are those of
 * mathematics.ts (a test holds the two together) and a scheduler that runs invocations as generators.
 */

import { EXP2_COEFFICIENTS, EXP2_MAX, EXP2_MIN, ROUND_MAGIC } from "../../ir/mathematics.ts";
import { elementTypes, isFloat, scalarTypes, type ElementType } from "../../ir/types.ts";
import { ofType, type Helper, type HelperTable } from "../core/helpers.ts";

/** Rounding to a two-byte type: what is lost of a double's upper word, and where infinity and subnormal numbers begin. */
function halves(
  name: "F16" | "BF16",
  bits: number,
  infinite: string,
  smallest: number,
  magic: number,
): HelperTable {
  return {
    [`round${name}`]: {
      text: `/** To the nearest ${name.toLowerCase()}, ties to even. */
function round${name}(x) {
  const magnitude = Math.abs(x);
  if (magnitude >= ${smallest}) return magnitude >= ${infinite} ? x * Infinity : roundSignificand(x, ${2 ** bits});
  if (x === 0 || x !== x) return x;
  const rounded = x + ${magic} - ${magic};
  return rounded === 0 ? x * 0 : rounded;
}`,
      needs: ["roundSignificand"],
    },
    [`fma${name}`]: {
      text: `const fma${name} = (a, b, c) => round${name}(fmaToOdd(a, b, c));`,
      needs: ["fmaToOdd", `round${name}`],
    },
  };
}

const mathematics: HelperTable = {
  fround: { text: "const { fround } = Math;" },
  scratch: { text: "const scratch = new DataView(new ArrayBuffer(8));" },
  minF32: { text: "const minF32 = (a, b) => (a < b || b !== b ? a : b);" },
  maxF32: { text: "const maxF32 = (a, b) => (a > b || b !== b ? a : b);" },
  divide: { text: "const divide = (a, b) => (b === 0 ? a : a / b);" },
  divideFloor: { text: "const divideFloor = (a, b) => (b === 0 ? a : Math.floor(a / b));" },
  remainderOf: { text: "const remainderOf = (a, b) => (b === 0 ? 0 : a % b);" },
  moduloOf: { text: "const moduloOf = (a, b) => (b === 0 ? 0 : a - Math.floor(a / b) * b);" },
  exp2Double: {
    text: `/** 2^x as a double. */
const exp2Coefficients = [${EXP2_COEFFICIENTS.join(", ")}];
function exp2Double(x) {
  const t = Math.max(Math.min(x, ${EXP2_MAX}), ${EXP2_MIN});
  const n = t + ${ROUND_MAGIC} - ${ROUND_MAGIC};
  const r = t - n;
  let p = exp2Coefficients[11];
  for (let k = 10; k >= 0; k--) p = p * r + exp2Coefficients[k];
  return p * 2 ** n;
}`,
  },
  exp2: { text: "const exp2 = (x) => fround(exp2Double(x));", needs: ["exp2Double", "fround"] },
  exp: { text: "const exp = (x) => fround(exp2Double(x * Math.LOG2E));", needs: ["exp2Double", "fround"] },
  round: {
    text: `/** To the nearest integer, halves to even. */
function round(x) {
  if (!(Math.abs(x) < 8388608)) return x;
  const rounded = x + ${ROUND_MAGIC} - ${ROUND_MAGIC};
  return rounded === 0 ? x * 0 : rounded;
}`,
  },
  fmaToOdd: {
    text: `/** a·b + c as a double rounded to odd: rounding that to a shorter type is exact. */
function fmaToOdd(a, b, c) {
  const product = a * b;
  const sum = product + c;
  const part = sum - product;
  const error = product - (sum - part) + (c - part);
  if (error === 0 || !Number.isFinite(sum) || error !== error) return sum;
  scratch.setFloat64(0, sum);
  const low = scratch.getUint32(4);
  if ((low & 1) === 1) return sum;
  if (error > 0 === sum > 0) {
    scratch.setUint32(4, low | 1);
  } else if (low === 0) {
    scratch.setUint32(4, 0xffffffff);
    scratch.setUint32(0, scratch.getUint32(0) - 1);
  } else {
    scratch.setUint32(4, low - 1);
  }
  return scratch.getFloat64(0);
}`,
    needs: ["scratch"],
  },
  fma: { text: "const fma = (a, b, c) => fround(fmaToOdd(a, b, c));", needs: ["fmaToOdd", "fround"] },
  roundSignificand: {
    text: `/** Rounds a double to nearest even at a bit of its upper word. */
function roundSignificand(x, unit) {
  scratch.setFloat64(0, x);
  const high = scratch.getUint32(0);
  const rest = high & (unit - 1);
  const isTie = rest === unit / 2 && scratch.getUint32(4) === 0;
  const up = isTie ? (high & unit) !== 0 : rest >= unit / 2;
  scratch.setUint32(0, high - rest + (up ? unit : 0));
  scratch.setUint32(4, 0);
  return scratch.getFloat64(0);
}`,
    needs: ["scratch"],
  },
  ...halves("F16", 10, "65520", 2 ** -14, 1.5 * 2 ** 28),
  ...halves("BF16", 13, String((2 - 2 ** -8) * 2 ** 127), 2 ** -126, 1.5 * 2 ** -81),
  bitsOfF16: {
    text: `/** The bits of a number that is exact in f16; every NaN gives the same. */
function bitsOfF16(x) {
  if (x !== x) return 0x7e00;
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(x);
  if (magnitude === Infinity) return sign | 0x7c00;
  if (magnitude < ${2 ** -14}) return sign | (magnitude * ${2 ** 24});
  scratch.setFloat64(0, magnitude);
  return sign | ((scratch.getUint32(0) >>> 10) - ((1023 - 15) << 10));
}`,
    needs: ["scratch"],
  },
  expandF16: {
    text: `/** The number with these bits in f16. */
function expandF16(bits) {
  const exponent = (bits >>> 10) & 31;
  const significand = bits & 0x3ff;
  const sign = (bits & 0x8000) === 0 ? 1 : -1;
  if (exponent === 31) return significand === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * significand * ${2 ** -24};
  return sign * (significand + 1024) * 2 ** (exponent - 25);
}`,
  },
  bitsOfBF16: {
    text: "const bitsOfBF16 = (x) => (f32ToBits(x) >>> 16) & 0xffff;",
    needs: ["f32ToBits"],
  },
  expandBF16: { text: "const expandBF16 = (bits) => bitsToF32(bits << 16);", needs: ["bitsToF32"] },
  f32ToI32: {
    text: `function f32ToI32(x) {
  if (x !== x) return 0;
  return x >= 2147483647 ? 2147483647 : x <= -2147483648 ? -2147483648 : Math.trunc(x) | 0;
}`,
  },
  f32ToU32: {
    text: `function f32ToU32(x) {
  if (!(x > 0)) return 0;
  return x >= 4294967295 ? 4294967295 : Math.trunc(x) >>> 0;
}`,
  },
  f32ToBits: {
    text: `function f32ToBits(x) {
  if (x !== x) return 0x7fc00000;
  scratch.setFloat32(0, x);
  return scratch.getInt32(0);
}`,
    needs: ["scratch"],
  },
  bitsToF32: {
    text: `function bitsToF32(bits) {
  scratch.setInt32(0, bits);
  return scratch.getFloat32(0);
}`,
    needs: ["scratch"],
  },
  popcount: {
    text: `function popcount(x) {
  let v = x - ((x >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}`,
  },
};

/** Each changes one element and gives the old value; the typed array rounds or wraps what is stored. */
const atomics: HelperTable = Object.fromEntries(
  (
    [
      ["Add", "old + value"],
      ["Min", "Math.min(old, value)"],
      ["Max", "Math.max(old, value)"],
      ["And", "old & value"],
      ["Or", "old | value"],
      ["Xor", "old ^ value"],
      ["Exchange", "value"],
    ] as const
  ).map(([name, next]): [string, Helper] => [
    `atomic${name}`,
    {
      text: `function atomic${name}(memory, index, value) {
  const old = memory[index];
  memory[index] = ${next};
  return old;
}`,
    },
  ]),
);

const compareExchange: Helper = {
  text: `function atomicCompareExchange(memory, index, expected, desired) {
  const old = memory[index];
  if (old === expected) memory[index] = desired;
  return old;
}`,
};

/** The sum of a and b in a type, and the helper that it needs. */
const SUMS: Readonly<Record<ElementType, readonly [sum: string, ...needs: string[]]>> = {
  f32: ["fround(a + b)", "fround"],
  f16: ["roundF16(a + b)", "roundF16"],
  bf16: ["roundBF16(a + b)", "roundBF16"],
  i32: ["(a + b) | 0"],
  u32: ["(a + b) >>> 0"],
};

/** Operations of a subgroup: from the lanes' values (undefined for a lane elsewhere) to the lanes' results. */
const collectives: HelperTable = Object.fromEntries(
  elementTypes.flatMap((type): [string, Helper][] => {
    const [sum, ...needs] = SUMS[type];
    const { greatest, least } = scalarTypes[type];
    const extreme = (name: "min" | "max"): [combine: string, ...needs: string[]] =>
      isFloat(type) ? [`${name}F32(a, b)`, `${name}F32`] : [`Math.${name}(a, b)`];
    const reduction = (
      title: string,
      [combine, ...more]: readonly [string, ...string[]],
      identity: number,
    ): [string, Helper] => {
      const name = ofType(title, type);
      const text = `const ${name} = (values) => butterfly(values, (a, b) => ${combine}, ${identity});`;
      return [name, { text, needs: ["butterfly", ...more] }];
    };
    const scan = (title: string, exclusive: boolean): [string, Helper] => {
      const name = ofType(title, type);
      const text = `const ${name} = (values) => scan(values, (a, b) => ${sum}, ${exclusive});`;
      return [name, { text, needs: ["scan", ...needs] }];
    };
    return [
      reduction("subgroupSum", SUMS[type], 0),
      reduction("subgroupMin", extreme("min"), greatest),
      reduction("subgroupMax", extreme("max"), least),
      scan("inclusiveSum", false),
      scan("exclusiveSum", true),
    ];
  }),
);

const subgroups: HelperTable = {
  butterfly: {
    text: `/** Combines the lanes' values in butterfly order; lanes elsewhere count as the identity. */
function butterfly(values, combine, identity) {
  let now = values.map((value) => value ?? identity);
  for (let o = now.length / 2; o >= 1; o /= 2) {
    const before = now;
    now = before.map((value, lane) => combine(value, before[lane ^ o]));
  }
  return now;
}`,
  },
  scan: {
    text: `/** The sums over the lanes up to each, itself included or not. */
function scan(values, combine, exclusive) {
  let now = values.map((value) => value ?? 0);
  for (let o = 1; o < now.length; o *= 2) {
    const before = now;
    now = before.map((value, lane) => (lane >= o ? combine(before[lane - o], value) : value));
  }
  return exclusive ? [0, ...now.slice(0, -1)] : now;
}`,
  },
  ...collectives,
  any: { text: "const any = (values) => values.map(() => values.some((value) => value === true));" },
  all: { text: "const all = (values) => values.map(() => values.every((value) => value !== false));" },
  ballot: {
    text: `/** One bit per lane, in words of 32. */
function ballot(values) {
  const words = Array.from({ length: Math.ceil(values.length / 32) }, () => 0);
  values.forEach((value, lane) => {
    if (value === true) words[lane >>> 5] = (words[lane >>> 5] | (1 << (lane & 31))) >>> 0;
  });
  return values.map(() => words);
}`,
  },
  gather: {
    text: `/** The value of the lane that each lane names; its own where there is none. */
const gather = (values, sources) => values.map((value, lane) => values[sources[lane]] ?? value);`,
  },
  first: {
    text: "const first = (values) => values.map(() => values.find((value) => value !== undefined));",
  },
  together: { text: "/** Lanes of a subgroup meet again. */\nconst together = (values) => values;" },
  spin: { text: "/** Gives other subgroups a turn. */\nconst spin = (values) => values;" },
};

const scheduler: HelperTable = {
  BARRIER: { text: 'const BARRIER = Symbol("barrier");' },
  runSubgroup: {
    text: `/**
 * Runs the lanes of a subgroup until each is at a barrier or done. A lane stops at [place, operation, value, second];
 * the lanes at the earliest place go on first, together. Gives whether any lane moved.
 */
function runSubgroup(lanes) {
  let moved = false;
  for (;;) {
    const places = lanes.map(({ done, value }) => (done || value === BARRIER ? Infinity : value[0]));
    const place = Math.min(...places);
    if (place === Infinity) return moved;
    const here = lanes.map((_, lane) => places[lane] === place);
    const requests = lanes.map(({ value }, lane) => (here[lane] ? value : []));
    const operation = requests[here.indexOf(true)][1];
    const results = operation(
      requests.map((request) => request[2]),
      requests.map((request) => request[3]),
    );
    lanes.forEach((lane, k) => {
      if (here[k]) Object.assign(lane, lane.steps.next(results[k]));
    });
    moved = true;
    if (operation.name === "spin") return moved;
  }
}`,
    needs: ["BARRIER"],
  },
  runWorkgroup: {
    text: `/** Runs a workgroup: its subgroups in turn, from barrier to barrier. */
function runWorkgroup(invocations, subgroupSize) {
  const lanes = invocations.map((steps) => ({ steps, ...steps.next() }));
  const subgroups = [];
  for (let k = 0; k < lanes.length; k += subgroupSize) subgroups.push(lanes.slice(k, k + subgroupSize));
  for (;;) {
    let moved = false;
    for (const subgroup of subgroups) moved = runSubgroup(subgroup) || moved;
    if (moved) continue;
    if (lanes.every(({ done }) => done)) return;
    if (lanes.some(({ done }) => done)) throw new Error("some invocations are at a barrier that others never reach");
    for (const lane of lanes) Object.assign(lane, lane.steps.next());
  }
}`,
    needs: ["runSubgroup"],
  },
};

export const jsHelpers: HelperTable = {
  ...mathematics,
  ...atomics,
  atomicCompareExchange: compareExchange,
  ...subgroups,
  ...scheduler,
};
