/**
 * Plain attention in JavaScript. In float64 it is the truth that kernels are compared with; in float32, with every operation
 * rounded, it shows how far an honest kernel may be from the truth. Neither is flash attention: all scores of a row are
 * computed first, then its softmax, then its output.
 */

import { accumulateBlocks32, sum32, type Summation } from "./blocked-sums.ts";
import { math } from "@evolver/kernel";
import type { AttentionProblem, AttentionShape, Mask, Strides } from "./problem.ts";
import { elementCount, extentsOf } from "./tensor.ts";

/** The inputs as flat arrays, laid out as the problem's strides say. */
export interface AttentionInputs {
  readonly q: ArrayLike<number>;
  readonly k: ArrayLike<number>;
  readonly v: ArrayLike<number>;
}

/** Dense results: o is [batch, headsQ, seqQ, dim], lse is [batch, headsQ, seqQ] of natural logarithms. */
export interface AttentionResult<A extends Float32Array | Float64Array> {
  readonly o: A;
  readonly lse: A;
}

/** The keys from `begin` up to, not with, `end` are those that query row `row` sees; none where they are equal. */
export function visibleKeys(
  mask: Mask,
  shape: Pick<AttentionShape, "seqQ" | "seqK">,
  row: number,
): { readonly begin: number; readonly end: number } {
  const { seqQ, seqK } = shape;
  if (mask.kind === "full") return { begin: 0, end: seqK };
  const position = row + seqK - seqQ;
  const left = mask.kind === "causal" ? Infinity : mask.left;
  const right = mask.kind === "causal" ? 0 : mask.right;
  const begin = Math.min(Math.max(position - left, 0), seqK);
  const end = Math.max(Math.min(position + right + 1, seqK), begin);
  return { begin, end };
}

/**
 * Attention in float64 for every option of a problem; rows that see no key have o = 0 and lse = −Infinity.
 *
 * @param chosen only these rows of the dense [batch, headsQ, seqQ]; the others are left as if they saw no key
 */
export function referenceAttention(
  problem: AttentionProblem,
  inputs: AttentionInputs,
  chosen?: ReadonlySet<number>,
): AttentionResult<Float64Array> {
  const { shape, mask, scale, softcap } = problem;
  const { dim, seqK } = shape;
  const result = emptyResult(shape, Float64Array);
  const query = new Float64Array(dim);
  const scores = new Float64Array(seqK);
  forEachKeyHead(problem, inputs, Float64Array, chosen, (keys, values, rows) => {
    for (const { offset, row, index } of rows) {
      const { begin, end } = visibleKeys(mask, shape, row);
      if (begin === end) continue;
      loadRow(query, inputs.q, offset, problem.strides.q[3]);
      dotRow64(query, keys, scores, begin, end);
      let largest = -Infinity;
      for (let j = begin; j < end; j++) {
        let score = scale * (scores[j] as number);
        if (softcap > 0) score = softcap * Math.tanh(score / softcap);
        scores[j] = score;
        largest = score > largest || score !== score ? score : largest;
      }
      let sum = 0;
      for (let j = begin; j < end; j++) {
        const weight = Math.exp((scores[j] as number) - largest);
        scores[j] = weight;
        sum += weight;
      }
      const out = result.o.subarray(index * dim, (index + 1) * dim);
      accumulateRow64(scores, values, out, begin, end);
      for (let d = 0; d < dim; d++) out[d] = (out[d] as number) / sum;
      result.lse[index] = largest + Math.log(sum);
    }
  });
  return result;
}

/** In what order the reference in the kernel's own precision adds. */
export interface LowOptions {
  /** Sums over the head dimension begin here and wrap round; 0 by default. */
  readonly firstDim?: number;
  /** Sums over the visible keys begin with this one of them, and wrap round; 0 by default. */
  readonly firstKey?: number;
  /** How sums over the keys go; 1024 terms, and 1024 sums of so many, by default. */
  readonly summation?: Summation;
  /** Only these rows of the dense [batch, headsQ, seqQ]; the others are left as if they saw no key. All by default. */
  readonly rows?: ReadonlySet<number>;
}

/** What a plain kernel may well add one after another, where nothing else is asked for. */
const SUMMATION: Summation = { terms: 1024, sums: 1024 };

/**
 * Plain attention in float32: every operation is rounded, and K is scaled instead of Q, so that it rounds differently from a kernel
 * that scales Q or the scores. Sums over the keys go in blocks, as a sound sum of many terms does: in one sequence, their
 * error would grow with the number of keys.
 */
export function lowAttention(
  problem: AttentionProblem,
  inputs: AttentionInputs,
  options: LowOptions = {},
): AttentionResult<Float32Array> {
  const { firstDim = 0, firstKey = 0, summation = SUMMATION, rows: chosen } = options;
  const { shape, mask } = problem;
  const { dim, seqK } = shape;
  const { fround } = Math;
  const scale = fround(problem.scale);
  const softcap = fround(problem.softcap);
  const result = emptyResult(shape, Float32Array);
  const query = new Float32Array(dim);
  const scores = new Float32Array(seqK);
  forEachKeyHead(problem, inputs, Float32Array, chosen, (keys, values, rows) => {
    for (let i = 0; i < keys.length; i++) keys[i] = fround((keys[i] as number) * scale);
    rotateRows(keys, dim, firstDim);
    for (const { offset, row, index } of rows) {
      const { begin, end } = visibleKeys(mask, shape, row);
      if (begin === end) continue;
      const split = begin + (firstKey % (end - begin));
      loadRow(query, inputs.q, offset, problem.strides.q[3]);
      rotateRows(query, dim, firstDim);
      dotRow32(query, keys, scores, begin, end);
      let largest = -Infinity;
      for (let j = begin; j < end; j++) {
        if (softcap > 0) scores[j] = softcap * math.tanh(fround((scores[j] as number) / softcap));
        largest = math.max(largest, scores[j] as number);
      }
      for (let j = begin; j < end; j++) scores[j] = math.exp(fround((scores[j] as number) - largest));
      const [later, earlier] = [
        { ...summation, begin: split, end },
        { ...summation, begin, end: split },
      ];
      const sum = fround(sum32(scores, later) + sum32(scores, earlier));
      for (let j = begin; j < end; j++) scores[j] = fround((scores[j] as number) / sum);
      const out = result.o.subarray(index * dim, (index + 1) * dim);
      accumulateBlocks32(scores, values, out, later);
      accumulateBlocks32(scores, values, out, earlier);
      result.lse[index] = largest + math.log(sum);
    }
  });
  return result;
}

type FloatArray = Float32Array | Float64Array;

interface QueryRow {
  /** Of the row's first element in q. */
  readonly offset: number;
  readonly row: number;
  /** Of the row in the dense [batch, headsQ, seqQ]. */
  readonly index: number;
}

function emptyResult<A extends FloatArray>(
  shape: AttentionShape,
  ArrayType: new (length: number) => A,
): AttentionResult<A> {
  const { batch, headsQ, seqQ } = shape;
  const lse = new ArrayType(batch * headsQ * seqQ);
  lse.fill(-Infinity);
  return { o: new ArrayType(elementCount(extentsOf(shape).o)), lse };
}

/** Visits each key head with its keys and values packed, and with all query rows that read it. */
function forEachKeyHead<A extends FloatArray>(
  problem: AttentionProblem,
  inputs: AttentionInputs,
  ArrayType: new (length: number) => A,
  chosen: ReadonlySet<number> | undefined,
  visit: (keys: A, values: A, rows: readonly QueryRow[]) => void,
): void {
  const { shape, strides } = problem;
  const { batch, headsQ, headsKv, seqQ, seqK, dim } = shape;
  const group = headsQ / headsKv;
  const keys = new ArrayType(seqK * dim);
  const values = new ArrayType(seqK * dim);
  const queryRows = (b: number, keyHead: number): QueryRow[] => {
    const rows: QueryRow[] = [];
    for (let head = keyHead * group; head < (keyHead + 1) * group; head++)
      for (let row = 0; row < seqQ; row++) {
        const index = (b * headsQ + head) * seqQ + row;
        if (chosen?.has(index) === false) continue;
        rows.push({ offset: b * strides.q[0] + head * strides.q[1] + row * strides.q[2], row, index });
      }
    return rows;
  };
  for (let b = 0; b < batch; b++)
    for (let keyHead = 0; keyHead < headsKv; keyHead++) {
      const rows = queryRows(b, keyHead);
      if (rows.length === 0) continue;
      loadRows(keys, inputs.k, b * strides.k[0] + keyHead * strides.k[1], strides.k, dim);
      loadRows(values, inputs.v, b * strides.v[0] + keyHead * strides.v[1], strides.v, dim);
      visit(keys, values, rows);
    }
}

/** Gathers the rows of one head, which begin at `offset`, without gaps. */
function loadRows(
  to: FloatArray,
  from: ArrayLike<number>,
  offset: number,
  [, , rowStride, columnStride]: Strides,
  dim: number,
): void {
  for (let row = 0; row * dim < to.length; row++)
    for (let d = 0; d < dim; d++)
      to[row * dim + d] = from[offset + row * rowStride + d * columnStride] as number;
}

function loadRow(to: FloatArray, from: ArrayLike<number>, offset: number, stride: number): void {
  for (let d = 0; d < to.length; d++) to[d] = from[offset + d * stride] as number;
}

/** Rotates each row of `dim` elements left by `first`. */
function rotateRows(data: Float32Array, dim: number, first: number): void {
  const shift = first % dim;
  if (shift === 0) return;
  for (let begin = 0; begin < data.length; begin += dim) {
    const row = data.slice(begin, begin + dim);
    data.set(row.subarray(shift), begin);
    data.set(row.subarray(0, shift), begin + dim - shift);
  }
}

// The loops below are where the time goes: four keys at a time keep four sums going and use each load more than once.

function dotRow64(
  query: Float64Array,
  keys: Float64Array,
  scores: Float64Array,
  begin: number,
  end: number,
): void {
  const dim = query.length;
  let j = begin;
  for (; j + 4 <= end; j += 4) {
    let a = 0;
    let b = 0;
    let c = 0;
    let e = 0;
    const k0 = j * dim;
    const k1 = k0 + dim;
    const k2 = k1 + dim;
    const k3 = k2 + dim;
    for (let d = 0; d < dim; d++) {
      const x = query[d]!;
      a += x * keys[k0 + d]!;
      b += x * keys[k1 + d]!;
      c += x * keys[k2 + d]!;
      e += x * keys[k3 + d]!;
    }
    scores[j] = a;
    scores[j + 1] = b;
    scores[j + 2] = c;
    scores[j + 3] = e;
  }
  for (; j < end; j++) {
    let sum = 0;
    for (let d = 0; d < dim; d++) sum += query[d]! * keys[j * dim + d]!;
    scores[j] = sum;
  }
}

function accumulateRow64(
  weights: Float64Array,
  values: Float64Array,
  out: Float64Array,
  begin: number,
  end: number,
): void {
  const dim = out.length;
  let j = begin;
  for (; j + 4 <= end; j += 4) {
    const p0 = weights[j]!;
    const p1 = weights[j + 1]!;
    const p2 = weights[j + 2]!;
    const p3 = weights[j + 3]!;
    const v0 = j * dim;
    const v1 = v0 + dim;
    const v2 = v1 + dim;
    const v3 = v2 + dim;
    for (let d = 0; d < dim; d++)
      out[d] =
        out[d]! +
        (p0 * values[v0 + d]! + p1 * values[v1 + d]! + (p2 * values[v2 + d]! + p3 * values[v3 + d]!));
  }
  for (; j < end; j++) {
    const weight = weights[j]!;
    for (let d = 0; d < dim; d++) out[d] = out[d]! + weight * values[j * dim + d]!;
  }
}

function dotRow32(
  query: Float32Array,
  keys: Float32Array,
  scores: Float32Array,
  begin: number,
  end: number,
): void {
  const { fround } = Math;
  const dim = query.length;
  let j = begin;
  for (; j + 4 <= end; j += 4) {
    let a = fround(0);
    let b = fround(0);
    let c = fround(0);
    let e = fround(0);
    const k0 = j * dim;
    const k1 = k0 + dim;
    const k2 = k1 + dim;
    const k3 = k2 + dim;
    for (let d = 0; d < dim; d++) {
      const x = query[d]!;
      a = fround(a + fround(x * keys[k0 + d]!));
      b = fround(b + fround(x * keys[k1 + d]!));
      c = fround(c + fround(x * keys[k2 + d]!));
      e = fround(e + fround(x * keys[k3 + d]!));
    }
    scores[j] = a;
    scores[j + 1] = b;
    scores[j + 2] = c;
    scores[j + 3] = e;
  }
  for (; j < end; j++) {
    let sum = fround(0);
    for (let d = 0; d < dim; d++) sum = fround(sum + fround(query[d]! * keys[j * dim + d]!));
    scores[j] = sum;
  }
}
