/** Numbers from and to the 16 bits in which buffers of f16 and bf16 hold them. */

import { math } from "@evolver/kernel";

/** Each number rounded to f16, as bits. */
export const toF16Bits = (numbers: ArrayLike<number>): Uint16Array =>
  Uint16Array.from(numbers, (x) => math.f16ToBits(math.roundF16(x)));

/** The numbers that these bits are in f16. */
export const fromF16Bits = (bits: Uint16Array): Float32Array => Float32Array.from(bits, math.f16FromBits);

/** Each number rounded to bf16, as bits. */
export const toBF16Bits = (numbers: ArrayLike<number>): Uint16Array =>
  Uint16Array.from(numbers, (x) => math.bf16ToBits(math.roundBF16(x)));

/** The numbers that these bits are in bf16. */
export const fromBF16Bits = (bits: Uint16Array): Float32Array => Float32Array.from(bits, math.bf16FromBits);
