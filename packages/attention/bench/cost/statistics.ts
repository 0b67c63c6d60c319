/** How well predictions order and how far they are off. */

/** Ranks from 1; equal values share the mean of theirs. */
export function ranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).toSorted((a, b) => (values[a] as number) - (values[b] as number));
  const result = Array.from({ length: values.length }, () => 0);
  for (let start = 0; start < order.length;) {
    const value = values[order[start] as number];
    let end = start + 1;
    while (end < order.length && values[order[end] as number] === value) end++;
    for (const index of order.slice(start, end)) result[index] = (start + 1 + end) / 2;
    start = end;
  }
  return result;
}

/** Spearman's rank correlation: Pearson's of the ranks, so that ties count rightly. NaN where one side is constant. */
export function spearman(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) throw new RangeError(`${a.length} values cannot be correlated with ${b.length}`);
  const [x, y] = [centred(ranks(a)), centred(ranks(b))];
  const dot = (u: readonly number[], v: readonly number[]): number =>
    u.reduce((sum, value, i) => sum + value * (v[i] as number), 0);
  return dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y));
}

function centred(values: readonly number[]): number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.map((value) => value - mean);
}

/** The value below which so large a share of the values lies, between neighbours in proportion. NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)] ?? Number.NaN, sorted[Math.ceil(at)] ?? Number.NaN];
  return low + (high - low) * (at - Math.floor(at));
}
