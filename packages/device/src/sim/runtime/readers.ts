/**
 * Who has read each element of a memory since it was last written, for vector clocks (happens-before.ts): entries of the
 * lanes of one chunk that read it in one epoch of their subgroup (between two of its releases), as bits.
 *
 * The first entry of an element lies in `heads` and is handled by generated code where it can be (codegen/checks.ts);
 * others follow in a pool. Entries stand with the latest first.
 */

import { SITE_STRIDE, actorOf } from "./access-id.ts";
import type { HappensBefore } from "./happens-before.ts";
import type { SimTime } from "./time.ts";
import type { VectorClock } from "./vector-clock.ts";

/** Numbers of an entry: time, bits, access id of the chunk's first lane, and the next entry (0: none). */
export const READER_ENTRY = 4;
const ENTRY = READER_ENTRY;

/** An entry that nothing orders before an access. */
export interface Reader {
  readonly accessId: number;
  readonly time: number;
}

/** What the readers of an element are compared with. */
export interface Writer {
  readonly clock: VectorClock;
  readonly invocation: number;
}

/** A reading of an element to be remembered. */
export interface Reading {
  /** The access id of the first lane of the chunk, and the lanes of it that read. */
  accessId: number;
  bits: number;
  /** When the epoch of their subgroup began. */
  epochStart: number;
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

  /** Adds lanes where the head holds another chunk or another epoch. */
  add(element: number, { accessId, bits, epochStart }: Reading, time: SimTime): void {
    const { heads } = this;
    const head = element * ENTRY;
    const chunk = actorOf(accessId);
    let newer = bits;
    const isOurs = actorOf(heads[head + 2] as number) === chunk && time.isHere(heads[head] as number);
    if (isOurs) {
      const left = (heads[head + 1] as number) & ~bits;
      newer |= heads[head + 1] as number;
      heads[head + 1] = left;
    } else if (this.#mergeBehind(head, chunk, bits, epochStart)) return;
    this.#prune(head, chunk, newer, time);
    if (!isOurs || heads[head + 1] !== 0) this.#push(head);
    heads[head] = time.now;
    heads[head + 1] = bits;
    heads[head + 2] = accessId;
  }

  /**
   * Forgets the readers of an element that is written, if the writer knows all their chunks up to then (`least`) and none
   * is of another workgroup or older than `since`; else returns false.
   */
  settle(element: number, least: Int32Array, chunkShift: number, since: number, time: SimTime): boolean {
    const { heads } = this;
    const pool = this.#pool;
    const head = element * ENTRY;
    const isSettled = (entries: Int32Array, at: number): boolean => {
      const when = entries[at] as number;
      return when >= since && time.isHere(when) && isKnown(entries, at, least, chunkShift);
    };
    if (!isSettled(heads, head)) return false;
    const first = heads[head + 3] as number;
    let last = 0;
    for (let next = first; next !== 0; next = pool[last + 3] as number) {
      last = next * ENTRY;
      if (!isSettled(pool, last)) return false;
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
  clear(element: number, writer: Writer, order: HappensBefore, time: SimTime): Reader | null {
    const unordered = (entries: Int32Array, at: number): Reader | null => {
      const when = entries[at] as number;
      if (when <= time.launchStart) return null;
      const accessId = entries[at + 2] as number;
      const first = accessId & (SITE_STRIDE - 1);
      const isHere = time.isHere(when);
      const workgroup = isHere ? 0 : time.workgroupAt(when);
      for (let bits = entries[at + 1] as number, lane = first; bits !== 0; bits >>>= 1, lane++) {
        if ((bits & 1) === 0) continue;
        const isOrdered = isHere
          ? lane === writer.invocation || when <= (writer.clock.times[lane] as number)
          : order.knowsOther(writer.clock, workgroup, lane, when);
        if (!isOrdered) return { accessId: accessId - first + lane, time: when };
      }
      return null;
    };
    const { heads } = this;
    const head = element * ENTRY;
    let found = unordered(heads, head);
    let next = heads[head + 3] as number;
    heads[head] = 0;
    heads[head + 3] = 0;
    while (next !== 0) {
      const at = next * ENTRY;
      const pool = this.#pool;
      found ??= unordered(pool, at);
      next = pool[at + 3] as number;
      this.#release(at);
    }
    return found;
  }

  /** Adds the bits to an entry of the same epoch further behind. */
  #mergeBehind(head: number, chunk: number, bits: number, epochStart: number): boolean {
    let next = this.heads[head + 3] as number;
    while (next !== 0) {
      const at = next * ENTRY;
      const pool = this.#pool;
      if ((pool[at] as number) < epochStart) return false;
      if (actorOf(pool[at + 2] as number) === chunk) {
        pool[at + 1] = (pool[at + 1] as number) | bits;
        return true;
      }
      next = pool[at + 3] as number;
    }
    return false;
  }

  /** Takes lanes that have read since out of older entries of their chunk. */
  #prune(head: number, chunk: number, read: number, time: SimTime): void {
    let newer = read;
    let array = this.heads;
    let link = head + 3;
    for (;;) {
      const next = array[link] as number;
      if (next === 0) return;
      const at = next * ENTRY;
      const pool = this.#pool;
      if ((pool[at] as number) < time.workgroupStart) return;
      if (actorOf(pool[at + 2] as number) === chunk && time.isHere(pool[at] as number)) {
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
}

/** Whether an entry is not later than what is known of its chunk. */
function isKnown(entries: Int32Array, at: number, least: Int32Array, chunkShift: number): boolean {
  const chunk = actorOf(entries[at + 2] as number) >>> chunkShift;
  return (entries[at] as number) <= (least[chunk] as number);
}
