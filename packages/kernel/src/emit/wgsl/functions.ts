/**
 * Functions for which WGSL promises too little (sine and cosine only within [−π, π], the hyperbolic tangent and logarithms near 1
 * only absolutely), and functions at NaN and at the ends of their domains, where it promises nothing. What is exact in them
 * is computed in whole numbers, with which a compiler takes no liberties.
 */

import type { HelperTable } from "../core/helpers.ts";

const NAN = "bitcast<f32>(nanBits)";

const angles: HelperTable = {
  upperHalf: {
    text: `// The upper 32 bits of a product; a is below 2^24.
fn upperHalf(a: u32, b: u32) -> u32 {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let left = (a >> 16u) * (b & 0xffffu);
  let right = (a & 0xffffu) * (b >> 16u);
  let carry = ((low >> 16u) + (left & 0xffffu) + (right & 0xffffu)) >> 16u;
  return (a >> 16u) * (b >> 16u) + (left >> 16u) + (right >> 16u) + carry;
}`,
  },
  sineFrom: {
    text: `// The bits of 2 / pi, after a word of zeros.
const twoOverPi = array<u32, 8>(
  0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu
);
// sin(|x| + quarters * pi / 2). WGSL's own is right only for small angles. The angle is reduced to [-pi / 4, pi / 4] with as many
// bits of 2 / pi as it has to be (Payne and Hanek, 1983), then come the polynomials of Cephes.
fn sineFrom(x: f32, quarters: u32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  let position = max(bits >> 23u, 126u) - 120u;
  let at = position >> 5u;
  let shift = position & 31u;
  let w0 = (twoOverPi[at] << shift) | ((twoOverPi[at + 1u] >> 1u) >> (31u - shift));
  let w1 = (twoOverPi[at + 1u] << shift) | ((twoOverPi[at + 2u] >> 1u) >> (31u - shift));
  let w2 = (twoOverPi[at + 2u] << shift) | ((twoOverPi[at + 3u] >> 1u) >> (31u - shift));
  let digits = (bits & 0x7fffffu) | 0x800000u;
  // |x| * 2 / pi, modulo 4, in units of 2^-94.
  let p2 = digits * w2;
  let p1 = digits * w1 + upperHalf(digits, w2);
  let carry = select(0u, 1u, p1 < digits * w1);
  let p0 = digits * w0 + upperHalf(digits, w1) + carry;
  let isAbove = ((p0 >> 29u) & 1u) == 1u;
  let flip = select(0u, 0xffffffffu, isAbove);
  let low = (((p1 << 2u) | (p2 >> 30u)) ^ flip);
  let high = (((p0 << 2u) | (p1 >> 30u)) ^ flip);
  let zeros = countLeadingZeros(high);
  let leading = select((high << zeros) | ((low >> 1u) >> (31u - zeros)), low, zeros == 32u);
  let size = f32(leading) * 1.57079633f * bitcast<f32>((95u - zeros) << 23u);
  let isSmall = bits < 0x3f490fdbu;
  let r = select(select(size, -size, isAbove), abs(x), isSmall);
  let quarter = select((p0 >> 30u) + select(0u, 1u, isAbove), 0u, isSmall) + quarters;
  let z = r * r;
  let sine = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * r + r;
  let cosine = ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) * z * z - 0.5f * z + 1.0f;
  let value = select(sine, cosine, (quarter & 1u) == 1u);
  return select(select(value, -value, (quarter & 2u) == 2u), ${NAN}, bits >= 0x7f800000u);
}`,
    needs: ["upperHalf", "nanBits"],
  },
  sinF32: {
    text: `fn sinF32(x: f32) -> f32 {
  let sine = sineFrom(x, 0u);
  return select(sine, -sine, bitcast<u32>(x) >= 0x80000000u);
}`,
    needs: ["sineFrom"],
  },
  cosF32: { text: "fn cosF32(x: f32) -> f32 {\n  return sineFrom(x, 1u);\n}", needs: ["sineFrom"] },
};

const logarithms: HelperTable = {
  logOfDigits: {
    text: `// A number as 2^exponent * (1 + rest), with the logarithm of 1 + rest, which is in [-0.35, 0.35]. WGSL's own is off by 2^-21 near 1,
// however small the logarithm is there. The polynomial is that of musl.
struct Logarithm { exponent: f32, ofDigits: f32 }
fn logOfDigits(x: f32) -> Logarithm {
  let bits = bitcast<u32>(x);
  let isSubnormal = bits < 0x00800000u;
  let scaled = select(bits, bitcast<u32>(f32(bits)), isSubnormal) + 0x004afb0du;
  let exponent = i32(scaled >> 23u) - select(127i, 276i, isSubnormal);
  let rest = bitcast<f32>((scaled & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  let s = rest / (2.0f + rest);
  let z = s * s;
  let w = z * z;
  let odd = z * (0.66666662693f + w * 0.28498786688f) + w * (0.40000972152f + w * 0.24279078841f);
  let half = 0.5f * rest * rest;
  return Logarithm(f32(exponent), s * (half + odd) - half + rest);
}
// At the ends of its domain.
fn logAtEnds(x: f32, inside: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let infinity = bitcast<f32>(infinityBits);
  let above = select(inside, infinity, bits == 0x7f800000u);
  return select(select(above, ${NAN}, bits > 0x7f800000u), -infinity, (bits & 0x7fffffffu) == 0u);
}`,
    needs: ["nanBits", "infinityBits"],
  },
  logF32: {
    text: `fn logF32(x: f32) -> f32 {
  let parts = logOfDigits(x);
  return logAtEnds(x, parts.exponent * 9.0580006145e-6f + parts.ofDigits + parts.exponent * 6.9313812256e-1f);
}`,
    needs: ["logOfDigits"],
  },
  log2F32: {
    text: `fn log2F32(x: f32) -> f32 {
  let parts = logOfDigits(x);
  return logAtEnds(x, parts.ofDigits * 1.44269504f + parts.exponent);
}`,
    needs: ["logOfDigits"],
  },
};

export const wgslFunctions: HelperTable = {
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
  ...angles,
  ...logarithms,
  tanhF32: {
    text: `// WGSL's own is off by 1e-5, however small the result is, and beyond 10 many a GPU overflows on the way.
fn tanhF32(x: f32) -> f32 {
  let z = x * x;
  let odd = (((-5.70498872745e-3f * z + 2.06390887954e-2f) * z - 5.37397155531e-2f) * z + 1.33314422036e-1f) * z - 3.33332819422e-1f;
  let size = min(abs(x), 10.0f);
  let far = 1.0f - 2.0f / (exp(2.0f * size) + 1.0f);
  let value = select(select(far, -far, x < 0.0f), x + x * z * odd, size < 0.625f);
  return select(value, x, isNan(x));
}`,
    needs: ["isNan"],
  },
};
