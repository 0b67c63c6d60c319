/** The text of the device functions that emitted CUDA C++ and HIP C++ may need. */

import type { HelperTable } from "../core/helpers.ts";

const DEVICE = "__device__ inline";

export const cppHelpers: HelperTable = {
  i64: { text: "typedef long long i64;" },
  divide: {
    text: `// Division as the kernel language has it: by 0 gives the dividend, and nothing overflows.
${DEVICE} unsigned divide(unsigned a, unsigned b) { return b == 0u ? a : a / b; }
${DEVICE} int divide(int a, int b) { return b == 0 ? a : b == -1 ? int(0u - unsigned(a)) : a / b; }`,
  },
  remainderOf: {
    text: `${DEVICE} unsigned remainderOf(unsigned a, unsigned b) { return b == 0u ? 0u : a % b; }
${DEVICE} int remainderOf(int a, int b) { return b == 0 || b == -1 ? 0 : a % b; }`,
  },
  divideFloor: {
    text: `${DEVICE} int divideFloor(int a, int b) {
  const int quotient = divide(a, b);
  return b != 0 && remainderOf(a, b) != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}`,
    needs: ["divide", "remainderOf"],
  },
  moduloOf: {
    text: `${DEVICE} int moduloOf(int a, int b) {
  const int remainder = remainderOf(a, b);
  return remainder != 0 && (a < 0) != (b < 0) ? remainder + b : remainder;
}`,
    needs: ["remainderOf"],
  },
  advance: {
    text: `// The next index of a loop: where it would pass the end, the end, so that it never wraps around.
${DEVICE} unsigned advance(unsigned i, unsigned step, unsigned end) { return end - i > step ? i + step : end; }
${DEVICE} int advance(int i, int step, int end) {
  const unsigned left = step > 0 ? unsigned(end) - unsigned(i) : unsigned(i) - unsigned(end);
  return left > (step > 0 ? unsigned(step) : 0u - unsigned(step)) ? i + step : end;
}`,
  },
  smaller: {
    text: `${DEVICE} int smaller(int a, int b) { return a < b ? a : b; }
${DEVICE} unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }`,
  },
  larger: {
    text: `${DEVICE} int larger(int a, int b) { return a > b ? a : b; }
${DEVICE} unsigned larger(unsigned a, unsigned b) { return a > b ? a : b; }`,
  },
  absolute: { text: `${DEVICE} int absolute(int a) { return int(a < 0 ? 0u - unsigned(a) : unsigned(a)); }` },
  floatBits: {
    text: `// The bits of a float; every NaN gives the same.
${DEVICE} int floatBits(float x) { return x != x ? 0x7fc00000 : __float_as_int(x); }`,
  },
  f32ToI32: {
    text: `${DEVICE} int f32ToI32(float x) {
  if (x >= 2147483648.0f) return 2147483647;
  return x > -2147483648.0f ? int(x) : x != x ? 0 : -2147483647 - 1;
}`,
  },
  f32ToU32: {
    text: `${DEVICE} unsigned f32ToU32(float x) {
  return x >= 4294967296.0f ? 4294967295u : x > 0.0f ? unsigned(x) : 0u;
}`,
  },
};

export interface SubgroupText {
  readonly width: number;
  /** Each gives the text of a call that exchanges `value` between lanes. */
  shuffle(value: string, lane: string): string;
  shuffleXor(value: string, mask: string): string;
  shuffleUp(value: string, delta: string): string;
}

/** Reductions and scans out of shuffles, in the order that the IR fixes. */
export function subgroupHelpers({ width, shuffleXor, shuffleUp }: SubgroupText): HelperTable {
  const reduce = (name: string, title: string, combine: (a: string, b: string) => string): string =>
    `${title}template <typename T> ${DEVICE} T ${name}(T value) {
  #pragma unroll
  for (int offset = ${width / 2}; offset > 0; offset /= 2) value = ${combine("value", shuffleXor("value", "offset"))};
  return value;
}`;
  return {
    subgroupSum: {
      text: reduce(
        "subgroupSum",
        "// The order of a subgroup's sum is a butterfly, so that it has the same bits everywhere.\n",
        (a, b) => `${a} + ${b}`,
      ),
    },
    subgroupMin: {
      text: `${DEVICE} float smaller(float a, float b) { return fminf(a, b); }
${reduce("subgroupMin", "", (a, b) => `smaller(${a}, ${b})`)}`,
      needs: ["smaller"],
    },
    subgroupMax: {
      text: `${DEVICE} float larger(float a, float b) { return fmaxf(a, b); }
${reduce("subgroupMax", "", (a, b) => `larger(${a}, ${b})`)}`,
      needs: ["larger"],
    },
    inclusiveSum: {
      text: `// The sum over the lanes up to this one.
template <typename T> ${DEVICE} T inclusiveSum(T value, unsigned lane) {
  #pragma unroll
  for (unsigned offset = 1; offset < ${width}; offset *= 2) {
    const T below = ${shuffleUp("value", "offset")};
    if (lane >= offset) value = below + value;
  }
  return value;
}`,
    },
    exclusiveSum: {
      text: `template <typename T> ${DEVICE} T exclusiveSum(T value, unsigned lane) {
  const T sum = inclusiveSum(value, lane);
  const T below = ${shuffleUp("sum", "1")};
  return lane == 0 ? T(0) : below;
}`,
      needs: ["inclusiveSum"],
    },
  };
}
