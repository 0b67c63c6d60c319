/**
 * Atomic loads that return an older value, as the memory model allows where nothing orders the newer write before the load:
 * relaxed operations keep each element's own order and nothing else.
 *
 * With vector clocks, what orders is what happens before the load (happens-before.ts). Without them only barriers do: a load then sees all that
 * was written before its workgroup last met, and before its lane last acquired or met with its subgroup.
 */

import type { Random } from "@evolver/base";
import type { Released, ReleasedClocks } from "./happens-before.ts";
import { timesOf } from "./sparse-times.ts";
import type { Subgroup } from "./subgroup.ts";
import type { SimTime } from "./time.ts";

/** Writes of an element that are remembered. */
const REMEMBERED = 3;
/** Of elements that more invocations have seen, loads return the present value: to look through all of them takes long. */
const MOST_SEEN = 256;

/** Who did something when. */
interface Moment {
  readonly workgroup: number;
  readonly invocation: number;
  readonly time: number;
}

interface Write extends Moment {
  /** What the element held before, and what had been released through it. */
  readonly before: number;
  readonly released: Released | undefined;
  readonly instruction: number;
}

/** That an invocation knows of the first writes. */
interface Seen extends Moment {
  readonly count: number;
}

interface History {
  /** The latest last. */
  readonly writes: Write[];
  /** How many there have been. */
  count: number;
  /** By invocation. */
  readonly seen: Map<number, Seen>;
}

const STRIDE = 2048;

/** What was written lately, by element. */
export type WriteHistories = Map<number, History>;

/** What workgroups under way at once have in common, by memory. */
export interface CommonMemory {
  /** Null for shared memory. */
  readonly histories: readonly (WriteHistories | null)[];
  readonly released: readonly ReleasedClocks[];
  readonly withClocks: boolean;
}

/** For one workgroup after another; several under way at once have one each, which know the same buffers. */
export class WeakMemory {
  /** What had been released when the value was written that the last load returned; null where it is the present one. */
  older: { readonly released: Released | undefined } | null = null;
  readonly #time: SimTime;
  readonly #random: Random;
  readonly #common: CommonMemory;
  #histories: readonly WriteHistories[] = [];
  /** By invocation: the instruction until which it knows all that was written. Without clocks. */
  readonly #fresh = new Map<number, number>();

  constructor(time: SimTime, random: Random, common: CommonMemory) {
    this.#time = time;
    this.#random = random;
    this.#common = common;
    this.beginWorkgroup();
  }

  /** Shared memory is another, and so are the invocations. */
  beginWorkgroup(): void {
    this.#histories = this.#common.histories.map((known) => known ?? new Map());
    this.#fresh.clear();
  }

  /** @param present what the element holds */
  load(memory: number, element: number, present: number, subgroup: Subgroup, lane: number): number {
    this.older = null;
    const history = this.#histories[memory]?.get(element);
    if (history === undefined) return present;
    const { writes, count, seen } = history;
    let value = present;
    let at = count;
    let least = -1;
    for (let i = writes.length - 1; i >= 0 && seen.size <= MOST_SEEN; i--) {
      const write = writes[i] as Write;
      if (this.#random.below(2) === 0 || this.#isKnown(write, subgroup, lane)) break;
      if (least < 0) least = this.#leastSeen(history, subgroup, lane);
      if (at <= least) break;
      this.older = write;
      value = write.before;
      at--;
    }
    seen.set(this.#invocation(subgroup, lane), this.#now(subgroup, lane, at));
    // It may see the newer value another time, so that it has not come round in a circle.
    if (at < count) this.#time.changes++;
    return value;
  }

  /** Told before what is released changes. @param before what the element held */
  wrote(memory: number, element: number, before: number, subgroup: Subgroup, lane: number): void {
    const elements = this.#histories[memory] as WriteHistories;
    let history = elements.get(element);
    if (history === undefined) elements.set(element, (history = { writes: [], count: 0, seen: new Map() }));
    history.count++;
    const now = this.#now(subgroup, lane, history.count);
    const released = this.#common.released[memory]?.get(element);
    history.writes.push({ ...now, before, released, instruction: this.#time.instruction });
    if (history.writes.length > REMEMBERED) history.writes.shift();
    history.seen.set(this.#invocation(subgroup, lane), now);
  }

  /** Without clocks. */
  acquired(subgroup: Subgroup, lane: number): void {
    this.#fresh.set(this.#invocation(subgroup, lane), this.#time.instruction);
  }

  /** How many writes a load may not go behind: what it has seen, and what those have who happened before it. */
  #leastSeen({ seen }: History, subgroup: Subgroup, lane: number): number {
    let least = seen.get(this.#invocation(subgroup, lane))?.count ?? 0;
    if (this.#common.withClocks)
      for (const moment of seen.values())
        if (moment.count > least && this.#happenedBefore(moment, subgroup, lane)) least = moment.count;
    return least;
  }

  #isKnown(write: Write, subgroup: Subgroup, lane: number): boolean {
    if (this.#common.withClocks) return this.#happenedBefore(write, subgroup, lane);
    const me = this.#invocation(subgroup, lane);
    if (this.#numberOf(write) === me) return true;
    return write.instruction <= Math.max(this.#fresh.get(me) ?? 0, subgroup.freshSince);
  }

  #happenedBefore({ workgroup, invocation, time }: Moment, subgroup: Subgroup, lane: number): boolean {
    const clock = subgroup.clocks[lane];
    if (clock === undefined) return true;
    if (workgroup !== this.#time.workgroup) {
      const times = timesOf(clock.others, workgroup);
      return times !== null && time <= (times[invocation] as number);
    }
    return invocation === subgroup.base + lane || time <= (clock.times[invocation] as number);
  }

  #now(subgroup: Subgroup, lane: number, count: number): Seen {
    const { workgroup, now: time } = this.#time;
    return { workgroup, invocation: subgroup.base + lane, time, count };
  }

  #invocation(subgroup: Subgroup, lane: number): number {
    return this.#time.workgroup * STRIDE + subgroup.base + lane;
  }

  #numberOf({ workgroup, invocation }: Moment): number {
    return workgroup * STRIDE + invocation;
  }
}
