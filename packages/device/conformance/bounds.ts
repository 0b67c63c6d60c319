/**
 * Measures how far the functions of a device are off, over the whole range of f32: dense around the points where functions are
 * hard, and some of every exponent. The right values are worked out in doubles.
 */

import {
  buffer,
  cos,
  exp,
  exp2,
  exp2Flushed,
  f32,
  kernel,
  log,
  log2,
  rsqrt,
  sin,
  sqrt,
  tanh,
  type BoundedOp,
  type F32,
} from "@evolver/kernel";
import type { Device } from "@evolver/device";

/** The largest error of an operation. */
export interface MeasuredBound {
  readonly op: BoundedOp;
  /** In units in the last place of the right result. */
  readonly ulps: number;
  /** The argument with that error. */
  readonly at: number;
  /** The largest error absolutely, of results up to 1. */
  readonly absolute: number;
  readonly points: number;
  /** Arguments of other results than the right ones at the ends: NaN, infinities, and what overflows. */
  readonly wrongAtEnds: readonly number[];
}

interface Measured {
  apply(x: F32): F32;
  expect(x: number): number;
}

const functions: Readonly<Record<BoundedOp, Measured>> = {
  exp: { apply: exp, expect: Math.exp },
  exp2: { apply: exp2, expect: (x) => 2 ** x },
  exp2Flushed: { apply: exp2Flushed, expect: (x) => 2 ** x },
  log: { apply: log, expect: Math.log },
  log2: { apply: log2, expect: Math.log2 },
  sin: { apply: sin, expect: Math.sin },
  cos: { apply: cos, expect: Math.cos },
  tanh: { apply: tanh, expect: Math.tanh },
  rsqrt: { apply: rsqrt, expect: (x) => 1 / Math.sqrt(x) },
  sqrt: { apply: (x) => sqrt(x), expect: Math.sqrt },
  // By a number that no quotient is a multiple of.
  div: { apply: (x) => x.div(3), expect: (x) => x / 3 },
};

const WORKGROUP = 64;

/** Some numbers of every exponent, all around 1, multiples of π / 2 and their neighbours, and the ends. */
function points(perExponent: number): Float32Array<ArrayBuffer> {
  const bits: number[] = [];
  let state = 12345;
  for (let exponent = 1; exponent < 255; exponent++)
    for (let k = 0; k < perExponent; k++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      bits.push((exponent << 23) | (k === 0 ? 0 : state >>> 9));
    }
  const scratch = new DataView(new ArrayBuffer(4));
  const bitsOf = (x: number): number => {
    scratch.setFloat32(0, x);
    return scratch.getUint32(0);
  };
  const around = (x: number, count: number): void => {
    for (let k = -count; k <= count; k++) bits.push(bitsOf(x) + k);
  };
  around(1, 32 * perExponent);
  for (let k = 1; k < 16 * perExponent; k++) around((k * Math.PI) / 2, 1);
  for (let k = 20; k < 120; k++) around((2 ** k * Math.PI) / 2, 2);
  for (const x of [Math.SQRT1_2, Math.SQRT2, 2, 0.5, Math.PI / 4, 0.625, 10, 88.72283, 128, 3.4028234e38])
    around(x, 8);
  const all = bits.flatMap((word) => [word, (word | 0x80000000) >>> 0]);
  all.push(0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000);
  return new Float32Array(Uint32Array.from(all).buffer);
}

/** Measures all functions on a device. */
export async function measureBounds(device: Device, perExponent = 16): Promise<readonly MeasuredBound[]> {
  const inputs = points(perExponent);
  const length = Math.ceil(inputs.length / WORKGROUP) * WORKGROUP;
  const padded = new Float32Array(length);
  padded.set(inputs);
  const x = device.createBuffer("f32", padded);
  const y = device.createBuffer("f32", length);
  const measured: MeasuredBound[] = [];
  for (const [op, { apply, expect }] of Object.entries(functions) as [BoundedOp, Measured][]) {
    const run = kernel(
      op,
      { params: { x: buffer(f32), y: buffer(f32, "write") }, workgroup: [WORKGROUP] },
      (params, gpu) => {
        const i = gpu.globalId.x;
        params.y.set(i, apply(params.x.get(i)));
      },
    );
    await (await device.compile(run)).run({ workgroups: length / WORKGROUP, args: { x, y } });
    measured.push(worst(op, inputs, await y.read(), expect));
  }
  for (const used of [x, y]) used.destroy();
  return measured;
}

const NORMAL = 2 ** -126;

function worst(
  op: BoundedOp,
  x: Float32Array,
  y: Float32Array,
  expect: (x: number) => number,
): MeasuredBound {
  let [ulps, at, absolute] = [0, 0, 0];
  const wrongAtEnds: number[] = [];
  x.forEach((argument, i) => {
    const want = expect(argument);
    const got = y[i] as number;
    const rounded = Math.fround(want);
    if (!Number.isFinite(rounded) || !Number.isFinite(argument) || !Number.isFinite(got)) {
      // A result that only just overflows may do so or not.
      const nearEnd = Math.abs(want) > 3.4e38 && Math.abs(want) < 3.41e38;
      if (!Object.is(got, rounded) && !nearEnd) wrongAtEnds.push(argument);
      return;
    }
    // What a device may flush to zero.
    if (Math.abs(want) < NORMAL) return;
    const error = Math.abs(got - want);
    const unit = 2 ** (Math.max(Math.floor(Math.log2(Math.abs(want))), -126) - 23);
    if (error / unit > ulps) [ulps, at] = [error / unit, argument];
    if (Math.abs(want) <= 1) absolute = Math.max(absolute, error);
  });
  return { op, ulps, at, absolute, points: x.length, wrongAtEnds };
}
