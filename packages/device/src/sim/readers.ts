/**
 * Who has read each element of a memory since it was last written, for vector clocks (clocks.ts): entries of the lanes
 * of one unit that read it in one interval of their subgroup (between two of its releases), as bits.
 *
 * The first entry of an element lies in `heads` and is handled by generated code where it can be (checks.ts); others
 * follow in a pool. Entries stand with the latest first.
 */

import { WHO } from "./checks.ts";
import type { Clocks } from "./clocks.ts";
import type { Known } from "./subgroup.ts";

/** Numbers of an entry: time, bits, site · WHO + local index of the unit's first lane, and the next entry (0: none). */
const ENTRY = 4;

/** An entry that nothing orders before an access. */
export interface Reader {
  readonly mark: number;
  readonly time: number;
}

/** What the readers of an element are compared with. */
export interface Writer {
  readonly known: Known;
  readonly invocation: number;
  /** When its workgroup began, and its launch. */
  readonly group: number;
  readonly launch: number;
}

export class Readers {
  readonly heads: Int32Array;
  #pool = new Int32Array(64 * ENTRY);
  #free = 0;
  #used = 1;

  constructor(length: number) {
    this.heads = new Int32Array(length * ENTRY);
  }

  /** Drops all entries. Heads of an older time mean nothing in any case. */
  forget(): void {
    this.#free = 0;
    this.#used = 1;
  }

  /**
   * Adds lanes where the head holds another unit or another interval.
   *
   * @param bits the lanes of the unit of `mark` that read
   * @param tick when the interval of their subgroup began
   * @param group when the workgroup began
   */
  add(element: number, bits: number, time: number, mark: number, tick: number, group: number): void {
    const { heads } = this;
    const head = element * ENTRY;
    const unit = mark & (WHO - 1);
    let newer = bits;
    const headUnit = (heads[head + 2] as number) & (WHO - 1);
    const isOurs = headUnit === unit && (heads[head] as number) >= group;
    if (isOurs) {
      const left = (heads[head + 1] as number) & ~bits;
      newer |= heads[head + 1] as number;
      heads[head + 1] = left;
    } else if (this.#mergeBehind(head, unit, bits, tick)) return;
    this.#prune(head, unit, newer, group);
    if (!isOurs || heads[head + 1] !== 0) this.#push(head);
    heads[head] = time;
    heads[head + 1] = bits;
    heads[head + 2] = mark;
  }

  /**
   * Forgets the readers of an element that is written, if the writer knows all their units up to then (`low`) and none is
   * older than `since`; else returns false.
   */
  settle(element: number, low: Int32Array, unitShift: number, since: number): boolean {
    const { heads } = this;
    const pool = this.#pool;
    const head = element * ENTRY;
    if (!knows(heads, head, low, unitShift, since)) return false;
    const first = heads[head + 3] as number;
    let last = 0;
    for (let next = first; next !== 0; next = pool[last + 3] as number) {
      last = next * ENTRY;
      if (!knows(pool, last, low, unitShift, since)) return false;
    }
    if (first !== 0) {
      pool[last + 3] = this.#free;
      this.#free = first;
    }
    heads[head] = 0;
    heads[head + 3] = 0;
    return true;
  }

  /** Forgets the readers of an element that is written; returns one that the writer is not ordered after, or null. */
  clear(
    element: number,
    writer: Writer,
    clocks: Clocks,
    workgroupAt: (time: number) => number,
  ): Reader | null {
    const { heads } = this;
    const head = element * ENTRY;
    let found = this.#unordered(heads, head, writer, clocks, workgroupAt);
    let next = heads[head + 3] as number;
    heads[head] = 0;
    heads[head + 3] = 0;
    while (next !== 0) {
      const at = next * ENTRY;
      const pool = this.#pool;
      found ??= this.#unordered(pool, at, writer, clocks, workgroupAt);
      next = pool[at + 3] as number;
      this.#release(at);
    }
    return found;
  }

  /** Adds the bits to an entry of the same interval further behind. */
  #mergeBehind(head: number, unit: number, bits: number, tick: number): boolean {
    let next = this.heads[head + 3] as number;
    while (next !== 0) {
      const at = next * ENTRY;
      const pool = this.#pool;
      if ((pool[at] as number) < tick) return false;
      if (((pool[at + 2] as number) & (WHO - 1)) === unit) {
        pool[at + 1] = (pool[at + 1] as number) | bits;
        return true;
      }
      next = pool[at + 3] as number;
    }
    return false;
  }

  /** Takes lanes that have read since out of older entries of their unit. */
  #prune(head: number, unit: number, read: number, group: number): void {
    let newer = read;
    let array = this.heads;
    let link = head + 3;
    for (;;) {
      const next = array[link] as number;
      if (next === 0) return;
      const at = next * ENTRY;
      const pool = this.#pool;
      if ((pool[at] as number) < group) return;
      if (((pool[at + 2] as number) & (WHO - 1)) === unit) {
        const bits = pool[at + 1] as number;
        pool[at + 1] = bits & ~newer;
        newer |= bits;
        if (pool[at + 1] === 0) {
          array[link] = pool[at + 3] as number;
          this.#release(at);
          continue;
        }
      }
      array = pool;
      link = at + 3;
    }
  }

  /** Moves the head behind itself. */
  #push(head: number): void {
    let entry = this.#free;
    if (entry !== 0) this.#free = this.#pool[entry * ENTRY + 3] as number;
    else {
      entry = this.#used++;
      if (this.#used * ENTRY > this.#pool.length) {
        const larger = new Int32Array(this.#pool.length * 2);
        larger.set(this.#pool);
        this.#pool = larger;
      }
    }
    const { heads } = this;
    const pool = this.#pool;
    const at = entry * ENTRY;
    for (let i = 0; i < ENTRY; i++) pool[at + i] = heads[head + i] as number;
    heads[head + 3] = entry;
  }

  #release(at: number): void {
    this.#pool[at + 3] = this.#free;
    this.#free = at / ENTRY;
  }

  #unordered(
    array: Int32Array,
    at: number,
    { known, invocation, group, launch }: Writer,
    clocks: Clocks,
    workgroupAt: (time: number) => number,
  ): Reader | null {
    const time = array[at] as number;
    if (time <= launch) return null;
    const mark = array[at + 2] as number;
    const first = mark & (WHO - 1);
    const isHere = time >= group;
    const workgroup = isHere ? 0 : workgroupAt(time);
    for (let bits = array[at + 1] as number, lane = first; bits !== 0; bits >>>= 1, lane++) {
      if ((bits & 1) === 0) continue;
      const ordered = isHere
        ? lane === invocation || time <= (known.here[lane] as number)
        : clocks.knows(known, workgroup, lane, time);
      if (!ordered) return { mark: mark - first + lane, time };
    }
    return null;
  }
}

function knows(entries: Int32Array, at: number, low: Int32Array, unitShift: number, since: number): boolean {
  const time = entries[at] as number;
  const unit = ((entries[at + 2] as number) & (WHO - 1)) >>> unitShift;
  return time >= since && time <= (low[unit] as number);
}
