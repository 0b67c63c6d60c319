/**
 * The lanes of a subgroup as a grid: groups of lanes with rows of their own, whose lanes share those rows.
 *
 * The bits of both places alternate in the lane's number, from a key bit on: so lane l and its neighbour l xor 1 have
 * the same rows, l and l xor 2 the same keys. NVIDIA's shared memory serves a 16-byte read of half a subgroup in one
 * pass instead of two where either pair reads one address, which then holds for rows, keys and columns alike.
 */

import { u32 } from "@evolver/kernel";
import type { Gpu, U32 } from "@evolver/kernel";
import type { Geometry } from "./geometry.ts";

export class LaneGrid {
  /** The lane's group among `rowLanes`, and its place in the group, of `keyLanes`. */
  readonly rowLane: U32 | 0;
  readonly keyLane: U32;
  readonly #gpu: Gpu;
  readonly #rowBits: readonly number[];
  readonly #keyBits: readonly number[];

  constructor(gpu: Gpu, { rowLanes, keyLanes }: Geometry) {
    this.#gpu = gpu;
    [this.#rowBits, this.#keyBits] = deal(Math.log2(rowLanes), Math.log2(keyLanes));
    this.rowLane = rowLanes === 1 ? 0 : this.#gather(this.#rowBits);
    this.keyLane = rowLanes === 1 ? gpu.lane : this.#gather(this.#keyBits);
  }

  /** What lanes of a group differ by: exclusive or with each in turn is a butterfly over the group, widest step first. */
  get distances(): number[] {
    return this.#keyBits.map((bit) => 1 << bit).toReversed();
  }

  /** The lane at a place of this lane's own group. */
  laneOf(place: U32): U32 {
    const rowMask = this.#rowBits.reduce((mask, bit) => mask | (1 << bit), 0);
    return this.#keyBits.reduce(
      (lane, bit, k) => lane.or(place.shr(k).and(1).shl(bit)),
      this.#gpu.lane.and(rowMask),
    );
  }

  /** A number from the given bits of the lane's; neighbouring ones at once. */
  #gather(bits: readonly number[]): U32 {
    let gathered: U32 | null = null;
    for (let k = 0; k < bits.length;) {
      let run = 1;
      while (bits[k + run] === (bits[k] as number) + run) run++;
      const part = this.#gpu.lane
        .shr(bits[k] as number)
        .and(2 ** run - 1)
        .shl(k);
      gathered = gathered === null ? part : gathered.or(part);
      k += run;
    }
    return gathered ?? this.#gpu.constant(u32, 0);
  }
}

/** Deals the bits of a lane's number in turn, to keys first. */
function deal(rowBits: number, keyBits: number): [rows: number[], keys: number[]] {
  const rows: number[] = [];
  const keys: number[] = [];
  for (let bit = 0; bit < rowBits + keyBits; bit++) {
    const toKeys = rows.length === rowBits || (keys.length < keyBits && bit % 2 === 0);
    (toKeys ? keys : rows).push(bit);
  }
  return [rows, keys];
}
