/** Sorting networks over registers, lanes and subgroups: who is compared with whom does not depend on the numbers. */

import { f32, max, min, select, type F32, type Gpu, type U32 } from "@evolver/kernel";

/** The invocations that have a row: neighbours, a power of two of them. */
export interface RowLanes {
  /** This one's place among them. */
  readonly lane: U32;
  readonly lanes: number;
}

/** Sorts a row. Each lane is given as many numbers, a power of two, and gets those from place lane·count on. */
export function sorted(gpu: Gpu, { lane, lanes }: RowLanes, given: readonly F32[]): readonly F32[] {
  const count = given.length;
  const exchange = exchanger(gpu, count);
  let values = compared(given, oddEvenPairs(count));
  /** A lane keeps the smaller of each pair, and its partner, on which the bit is set, the larger. */
  const meet = (offered: readonly F32[], mask: number, bit: number): void => {
    const isUpper = lane.and(bit).ne(0);
    const others = exchange(offered, mask);
    values = values.map((own, k) => {
      const other = others[k] as F32;
      return select(other.lt(own).xor(isUpper), other, own);
    });
  };
  for (let run = 2; run <= lanes; run *= 2) {
    // Against the second half in reverse; after that, each half is above or below the other, and so are halves of halves.
    meet(values.toReversed(), run - 1, run / 2);
    for (let distance = run / 4; distance >= 1; distance /= 2) meet(values, distance, distance);
    for (let distance = count / 2; distance >= 1; distance /= 2)
      values = compared(values, pairsAt(count, distance));
  }
  return values;
}

type Pair = readonly [lower: number, upper: number];

/** The smaller of each pair goes to its lower place. */
function compared(values: readonly F32[], pairs: readonly Pair[]): F32[] {
  const result = [...values];
  for (const [lower, upper] of pairs) {
    const [a, b] = [result[lower] as F32, result[upper] as F32];
    [result[lower], result[upper]] = [min(a, b), max(a, b)];
  }
  return result;
}

/** Places that are so far apart. */
const pairsAt = (count: number, distance: number): Pair[] =>
  Array.from({ length: count }, (_, k) => k)
    .filter((k) => (k & distance) === 0)
    .map((k) => [k, k + distance]);

/** Batcher's odd-even merge sort: it takes the fewest comparisons where all are in one invocation. */
function oddEvenPairs(count: number): Pair[] {
  const pairs: Pair[] = [];
  for (let run = 1; run < count; run *= 2)
    for (let distance = run; distance >= 1; distance /= 2)
      for (let first = distance % run; first + distance < count; first += 2 * distance)
        for (let k = first; k < Math.min(first + distance, count - distance); k++)
          if (Math.floor(k / (2 * run)) === Math.floor((k + distance) / (2 * run)))
            pairs.push([k, k + distance]);
  return pairs;
}

/** Gives what the invocation with an index that differs in the bits of a mask offers: by shuffles, or across subgroups. */
function exchanger(gpu: Gpu, count: number): (offered: readonly F32[], mask: number) => readonly F32[] {
  const { subgroupSize, localIndex, workgroupSize } = gpu;
  const [threads] = workgroupSize;
  const place = (k: number, index: U32): U32 => index.add(k * threads);
  let tile: ReturnType<typeof gpu.shared<"f32">> | null = null;
  return (offered, mask) => {
    if (mask < subgroupSize) return offered.map((value) => gpu.subgroup.shuffleXor(value, mask));
    // What was exchanged before has been read.
    if (tile !== null) gpu.barrier();
    const between = (tile ??= gpu.shared(f32, count * threads));
    offered.forEach((value, k) => between.set(place(k, localIndex), value));
    gpu.barrier();
    const partner = localIndex.xor(mask);
    return offered.map((_, k) => between.get(place(k, partner)));
  };
}
