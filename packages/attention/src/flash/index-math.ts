/** Arithmetic on indices that are known at build time or at run time, folded where known. */

import type { U32 } from "@evolver/kernel";

export function plus(a: U32 | number, b: U32 | number): U32 | number {
  if (typeof a !== "number") return a.add(b);
  if (typeof b !== "number") return b.add(a);
  return a + b;
}

/** a / divisor, a shift where the divisor is a power of two. */
export function quotient(a: U32, divisor: number): U32 {
  return isPowerOfTwo(divisor) ? a.shr(Math.log2(divisor)) : a.divTrunc(divisor);
}

/** a mod divisor, a bit mask where the divisor is a power of two. */
export function remainder(a: U32, divisor: number): U32 {
  return isPowerOfTwo(divisor) ? a.and(divisor - 1) : a.remTrunc(divisor);
}

const isPowerOfTwo = (n: number): boolean => (n & (n - 1)) === 0;
