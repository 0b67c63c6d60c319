/** Sums of float32 in blocks, and blocks of blocks: each sum of so many terms is rounded on its own, one after another. */

/** How terms are added: so many one after another, then so many of the sums of those, and again of the sums of those. */
export interface Summation {
  readonly terms: number;
  readonly sums: number;
}

/** Keys of a row, and how their terms are added. */
interface Blocks extends Summation {
  readonly begin: number;
  readonly end: number;
}

/** Keys per part where a sum has at most `sums` parts, of which each again is a sum of such parts or of single terms. */
function partOf({ begin, end, terms, sums }: Blocks): number {
  let part = terms;
  while (part * sums < end - begin) part *= sums;
  return part;
}

/** The sum of a row's weights. */
export function sum32(weights: Float32Array, blocks: Blocks): number {
  const { begin, end, terms } = blocks;
  let sum = 0;
  if (end - begin <= terms) {
    for (let j = begin; j < end; j++) sum = Math.fround(sum + weights[j]!);
    return sum;
  }
  const part = partOf(blocks);
  for (let j = begin; j < end; j += part)
    sum = Math.fround(sum + sum32(weights, { ...blocks, begin: j, end: Math.min(j + part, end) }));
  return sum;
}

/** Adds the values of some keys to `out`. */
export function accumulateBlocks32(
  weights: Float32Array,
  values: Float32Array,
  out: Float32Array,
  blocks: Blocks,
): void {
  const { begin, end, terms } = blocks;
  if (end - begin <= terms) return accumulateRow32(weights, values, out, begin, end);
  const part = partOf(blocks);
  for (let j = begin; j < end; j += part) {
    const sums = new Float32Array(out.length);
    accumulateBlocks32(weights, values, sums, { ...blocks, begin: j, end: Math.min(j + part, end) });
    for (let d = 0; d < out.length; d++) out[d] = out[d]! + sums[d]!;
  }
}

function accumulateRow32(
  weights: Float32Array,
  values: Float32Array,
  out: Float32Array,
  begin: number,
  end: number,
): void {
  const { fround } = Math;
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
    for (let d = 0; d < dim; d++) {
      let sum = fround(out[d]! + fround(p0 * values[v0 + d]!));
      sum = fround(sum + fround(p1 * values[v1 + d]!));
      sum = fround(sum + fround(p2 * values[v2 + d]!));
      out[d] = sum + fround(p3 * values[v3 + d]!);
    }
  }
  for (; j < end; j++) {
    const weight = weights[j]!;
    for (let d = 0; d < dim; d++) out[d] = out[d]! + fround(weight * values[j * dim + d]!);
  }
}
