/**
 * Atomic loads that return an older value, as the memory model allows where nothing orders the newer write before the load:
 * relaxed operations keep each element's own order and nothing else.
 *
 * Less than the model allows happens here: a load sees all that was written before its workgroup last met at a barrier, and
 * before its lane last acquired or met with its subgroup.
 */

import type { Random } from "@evolver/base";
import type { Subgroup } from "./subgroup.ts";
import type { SimTime } from "./time.ts";

/** Writes of an element that are remembered. */
const REMEMBERED = 3;

interface Write {
  /** What the element held before. */
  readonly before: number;
  readonly writer: number;
  readonly instruction: number;
}

interface History {
  /** The latest last. */
  readonly writes: Write[];
  /** How many there have been. */
  count: number;
  /** By invocation: how many of them it has seen. */
  readonly seen: Map<number, number>;
}

const STRIDE = 2048;

/** What was written lately, by element. */
export type WriteHistories = Map<number, History>;

/** For one workgroup after another; several under way at once have one each, which know the same buffers. */
export class WeakMemory {
  readonly #time: SimTime;
  readonly #random: Random;
  /** By memory: shared among workgroups for buffers, null for shared memory. */
  readonly #ofBuffers: readonly (WriteHistories | null)[];
  #histories: readonly WriteHistories[];
  /** By invocation: the instruction until which it knows all that was written. */
  readonly #fresh = new Map<number, number>();

  constructor(time: SimTime, random: Random, ofBuffers: readonly (WriteHistories | null)[]) {
    this.#time = time;
    this.#random = random;
    this.#ofBuffers = ofBuffers;
    this.#histories = ofBuffers.map((known) => known ?? new Map());
  }

  /** Shared memory is another, and so are the invocations. */
  beginWorkgroup(): void {
    this.#histories = this.#ofBuffers.map((known) => known ?? new Map());
    this.#fresh.clear();
  }

  /** @param present what the element holds */
  load(memory: number, element: number, present: number, subgroup: Subgroup, lane: number): number {
    const history = this.#histories[memory]?.get(element);
    if (history === undefined) return present;
    const me = this.#invocation(subgroup, lane);
    const fresh = Math.max(this.#fresh.get(me) ?? 0, subgroup.freshSince);
    const { writes, count } = history;
    const seen = history.seen.get(me) ?? 0;
    let value = present;
    let at = count;
    for (let i = writes.length - 1; i >= 0 && at > seen; i--, at--) {
      const { before, writer, instruction } = writes[i] as Write;
      if (writer === me || instruction <= fresh || this.#random.below(2) === 0) break;
      value = before;
    }
    history.seen.set(me, at);
    // It may see the newer value another time, so that it has not come round in a circle.
    if (at < count) this.#time.changes++;
    return value;
  }

  /** @param before what the element held */
  wrote(memory: number, element: number, before: number, subgroup: Subgroup, lane: number): void {
    const elements = this.#histories[memory] as WriteHistories;
    let history = elements.get(element);
    if (history === undefined) elements.set(element, (history = { writes: [], count: 0, seen: new Map() }));
    const writer = this.#invocation(subgroup, lane);
    history.writes.push({ before, writer, instruction: this.#time.instruction });
    if (history.writes.length > REMEMBERED) history.writes.shift();
    history.count++;
    history.seen.set(writer, history.count);
  }

  acquired(subgroup: Subgroup, lane: number): void {
    this.#fresh.set(this.#invocation(subgroup, lane), this.#time.instruction);
  }

  #invocation(subgroup: Subgroup, lane: number): number {
    return this.#time.workgroup * STRIDE + subgroup.base + lane;
  }
}
