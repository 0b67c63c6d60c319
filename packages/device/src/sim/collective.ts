/** Subgroup operations, over registers: `V` is a view of the register file and `o` the offset of lane 0's operand. */

import { isFloat, math } from "@evolver/kernel";
import type { FloatType, ScalarType, SubgroupOp } from "@evolver/kernel";
import type { Runtime } from "./runtime.ts";
import type { Subgroup } from "./subgroup.ts";

type View = Float32Array | Int32Array | Uint32Array;

const MAX_WIDTH = 128;
const scratch = {
  f32: [new Float32Array(MAX_WIDTH), new Float32Array(MAX_WIDTH)],
  i32: [new Int32Array(MAX_WIDTH), new Int32Array(MAX_WIDTH)],
  u32: [new Uint32Array(MAX_WIDTH), new Uint32Array(MAX_WIDTH)],
} as const;

const scratchOf = (type: ScalarType): readonly [View, View] =>
  isFloat(type) ? scratch.f32 : type === "u32" ? scratch.u32 : scratch.i32;

/** To the floating-point type of each step; integers wrap where they are stored. */
const ROUND: Readonly<Record<FloatType, (x: number) => number>> = {
  f32: Math.fround,
  f16: math.roundF16,
  bf16: math.roundBF16,
};
const same = (x: number): number => x;
const rounding = (type: ScalarType): ((x: number) => number) => (isFloat(type) ? ROUND[type] : same);

const IDENTITY: Record<string, Record<string, number>> = {
  sum: { f32: 0, f16: 0, bf16: 0, i32: 0, u32: 0 },
  min: { f32: Infinity, f16: Infinity, bf16: Infinity, i32: 0x7fffffff, u32: 0xffffffff },
  max: { f32: -Infinity, f16: -Infinity, bf16: -Infinity, i32: -0x80000000, u32: 0 },
};

/** Loads the operand of active lanes, and the identity for the others. */
function gather(target: View, V: View, o: number, M: Uint8Array, identity: number): void {
  for (let l = 0; l < M.length; l++) target[l] = M[l] !== 0 ? (V[o + l] as number) : identity;
}

/** Butterfly of sums, minima or maxima; returns lane 0's result and leaves all lanes' in the first scratch array. */
function butterfly(op: "sum" | "min" | "max", type: ScalarType, V: View, o: number, M: Uint8Array): View {
  let [value, next] = scratchOf(type);
  const round = rounding(type);
  gather(value, V, o, M, IDENTITY[op]?.[type] as number);
  for (let distance = M.length >> 1; distance > 0; distance >>= 1) {
    for (let l = 0; l < M.length; l++) {
      const a = value[l] as number;
      const b = value[l ^ distance] as number;
      next[l] = op === "sum" ? round(a + b) : op === "min" ? math.min(a, b) : math.max(a, b);
    }
    [value, next] = [next, value];
  }
  return value;
}

/** `sum`, or an integer's `min` or `max`: the same in all lanes. */
export function reduce(
  op: "sum" | "min" | "max",
  type: ScalarType,
  V: View,
  o: number,
  M: Uint8Array,
): number {
  return butterfly(op, type, V, o, M)[0] as number;
}

/** A floating-point `min` or `max`, in which lanes may differ in the sign of zero. */
export function reduceLanes(
  op: "min" | "max",
  type: ScalarType,
  V: View,
  o: number,
  target: number,
  M: Uint8Array,
): void {
  const result = butterfly(op, type, V, o, M);
  for (let l = 0; l < M.length; l++) V[target + l] = result[l] as number;
}

export function any(V: View, o: number, M: Uint8Array): number {
  for (let l = 0; l < M.length; l++) if (M[l] !== 0 && V[o + l] !== 0) return 1;
  return 0;
}

export function all(V: View, o: number, M: Uint8Array): number {
  for (let l = 0; l < M.length; l++) if (M[l] !== 0 && V[o + l] === 0) return 0;
  return 1;
}

/** Word `word` of the ballot. */
export function ballot(V: View, o: number, M: Uint8Array, word: number): number {
  let bits = 0;
  const end = Math.min(M.length, word * 32 + 32);
  for (let l = word * 32; l < end; l++) if (M[l] !== 0 && V[o + l] !== 0) bits |= 1 << (l & 31);
  return bits >>> 0;
}

export function broadcastFirst(V: View, o: number, M: Uint8Array): number {
  return V[o + M.indexOf(1)] as number;
}

export function scan(
  inclusive: boolean,
  type: ScalarType,
  V: View,
  o: number,
  target: number,
  M: Uint8Array,
): void {
  let [value, next] = scratchOf(type);
  const width = M.length;
  const round = rounding(type);
  gather(value, V, o, M, 0);
  for (let distance = 1; distance < width; distance <<= 1) {
    for (let l = 0; l < width; l++)
      next[l] =
        l >= distance ? round((value[l - distance] as number) + (value[l] as number)) : (value[l] as number);
    [value, next] = [next, value];
  }
  for (let l = 0; l < width; l++) {
    const from = inclusive ? l : l - 1;
    V[target + l] = from < 0 ? 0 : (value[from] as number);
  }
}

/** `broadcast` and the shuffles: lane l reads the lane that `by` (u32 registers at `p`) names. */
export function shuffle(
  op: SubgroupOp,
  V: View,
  o: number,
  by: Uint32Array,
  p: number,
  target: number,
  M: Uint8Array,
  S: Subgroup,
  site: number,
  request: number,
  rt: Runtime | null,
): void {
  const type: ScalarType = V instanceof Float32Array ? "f32" : V instanceof Uint32Array ? "u32" : "i32";
  const source = scratchOf(type)[0];
  for (let l = 0; l < M.length; l++) source[l] = V[o + l] as number;
  for (let l = 0; l < M.length; l++) {
    if (M[l] === 0) continue;
    const operand = by[p + l] as number;
    const from =
      op === "shuffleXor"
        ? (l ^ operand) >>> 0
        : op === "shuffleUp"
          ? l - operand
          : op === "shuffleDown"
            ? l + operand
            : operand;
    const readable = from >= 0 && from < M.length && M[from] !== 0;
    if (!readable) rt?.inactiveLane(S, l, from, site, request);
    V[target + l] = source[readable ? from : l] as number;
  }
}
