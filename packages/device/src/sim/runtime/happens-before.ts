/**
 * Happens-before with vector clocks, for launches in which subgroups wait for each other or atomics acquire and release.
 * Other launches need only barrier intervals, which are cheaper (codegen/checks.ts).
 *
 * The clock of every invocation is the time of the device (time.ts), which grows at each barrier and at each
 * instruction that releases. An access is remembered as who made it and when, as in FastTrack (Flanagan and Freund, 2009),
 * and is ordered before everything that knows that invocation up to that time. The lanes of a subgroup share one
 * vector clock as long as they know the same.
 *
 * A clock is dense over the actors of its own workgroup and sparse over other workgroups (sparse-times.ts), of which only a
 * release can speak. There is one HappensBefore for each workgroup that is under way; what was released through global memory
 * is common to all.
 */

import { SITE_STRIDE } from "./access-id.ts";
import type { LaneSet, Subgroup } from "./subgroup.ts";
import { joinTimes, NO_TIMES, timesOf, withTimes } from "./sparse-times.ts";
import type { SparseTimes } from "./sparse-times.ts";
import type { SimTime } from "./time.ts";
import { covers, raise } from "./times.ts";
import type { Times } from "./times.ts";
import { chunkLanes } from "./vector-clock.ts";
import type { VectorClock } from "./vector-clock.ts";

/** What a release published, and the workgroup that it speaks of. */
export interface Released {
  readonly workgroup: number;
  readonly clock: VectorClock;
}

/** What was released through one memory, by element. */
export type ReleasedClocks = Map<number, Released>;

/** What an atomic operation of a place in the kernel orders. */
export interface AtomicOrder {
  readonly acquires: boolean;
  readonly releases: boolean;
  /** Whether it is more than a load. */
  readonly writes: boolean;
  /** Whether it reads and writes in one step, and so keeps what an earlier release published. */
  readonly modifies: boolean;
}

export class HappensBefore {
  /** The clock of an invocation that knows nothing of others. */
  readonly nothing: VectorClock;
  readonly #time: SimTime;
  readonly #invocations: number;
  /** How many phase barriers land copies as actors of their own, with numbers after those of the invocations. */
  readonly #copyActors: number;
  /** Length of `times`: invocations, copy actors, and, where there are any, for each invocation its copies (#ownWait). */
  readonly #actors: number;
  readonly #chunk: number;
  readonly #subgroups: readonly Subgroup[];
  /** What an acquiring access learns, by memory and element. */
  readonly #released: readonly ReleasedClocks[];
  #workgroup = 0;
  /** The last join. */
  #joined: { readonly a: VectorClock; readonly b: VectorClock; readonly result: VectorClock };

  /**
   * @param released of each memory
   * @param phaseBarriers how many there are: what belongs to a phase lands when it is seen complete, which those who
   *   started the copies do not know, so that each barrier is an actor of its own
   */
  constructor(
    time: SimTime,
    subgroups: readonly Subgroup[],
    released: readonly ReleasedClocks[],
    phaseBarriers: number,
  ) {
    this.#time = time;
    this.#subgroups = subgroups;
    this.#invocations = subgroups.reduce((sum, subgroup) => sum + subgroup.lanes, 0);
    this.#chunk = chunkLanes(subgroups[0]?.all.mask.length ?? 32);
    this.#released = released;
    // Beyond the room that access ids have for them, barriers share.
    this.#copyActors = Math.min(phaseBarriers, SITE_STRIDE - this.#invocations);
    this.#actors = phaseBarriers > 0 ? this.#invocations * 2 + this.#copyActors : this.#invocations;
    this.nothing = this.#clock(new Int32Array(this.#actors), NO_TIMES);
    this.#joined = { a: this.nothing, b: this.nothing, result: this.nothing };
  }

  beginWorkgroup(workgroup: number, time: number): void {
    this.#workgroup = workgroup;
    this.#setAll(this.nothing, time);
  }

  /** The workgroup goes on after others did. */
  beginTurn(time: number): void {
    for (const subgroup of this.#subgroups) subgroup.epochStart = time;
  }

  /** Drops what was released through a memory that has new contents. */
  forget(memory: number): void {
    this.#released[memory]?.clear();
  }

  /** All invocations of the workgroup met at this time: each knows what any of them knew. */
  barrier(time: number): void {
    let { others } = this.nothing;
    for (const subgroup of this.#subgroups) {
      let last: VectorClock | null = null;
      for (const clock of subgroup.clocks) {
        if (clock !== last) others = joinTimes(others, clock.others);
        last = clock;
      }
    }
    // That includes every copy that has landed, so that those that lanes waited for themselves need not be told apart.
    const times = new Int32Array(this.#actors).fill(time, 0, this.#invocations + this.#copyActors);
    this.#setAll(this.#clock(times, others), time + 1);
  }

  /** Active lanes of a subgroup met. */
  subgroupBarrier(subgroup: Subgroup, active: LaneSet, time: number): void {
    this.learn(subgroup, active, this.publish(subgroup, active, this.nothing, time));
    subgroup.epochStart = time + 1;
  }

  /** What active lanes of a subgroup release together at this time, over what was released before. */
  publish(subgroup: Subgroup, { mask }: LaneSet, before: VectorClock, time: number): VectorClock {
    const times = before.times.slice();
    let { others } = before;
    let last: VectorClock | null = null;
    for (let lane = 0; lane < subgroup.lanes; lane++) {
      if (mask[lane] === 0) continue;
      const clock = subgroup.clocks[lane] as VectorClock;
      if (clock !== last && clock !== this.nothing) {
        others = joinTimes(others, clock.others);
        raise(times, clock.times);
      }
      last = clock;
    }
    for (let lane = 0; lane < subgroup.lanes; lane++)
      if (mask[lane] !== 0) times[subgroup.base + lane] = time;
    return this.#clock(times, others);
  }

  /** Active lanes learn what was released. */
  learn(subgroup: Subgroup, { mask }: LaneSet, released: VectorClock): void {
    let last: VectorClock | null = null;
    let result = released;
    for (let lane = 0; lane < subgroup.lanes; lane++) {
      if (mask[lane] === 0) continue;
      const clock = subgroup.clocks[lane] as VectorClock;
      if (clock !== last) result = this.join(clock, released);
      last = clock;
      subgroup.clocks[lane] = result;
    }
    this.shareClock(subgroup);
  }

  /** The actor that lands the copies of a phase barrier, of all those of the workgroup by number. */
  copyActor(phaseBarrier: number): number {
    return this.#invocations + (phaseBarrier % this.#copyActors);
  }

  /** Adds that the copies of an actor have landed until this time. */
  withCopiesLanded(clock: VectorClock, actor: number, time: number): VectorClock {
    const times = clock.times.slice();
    times[actor] = time;
    return { times, least: clock.least, others: clock.others };
  }

  /** A lane waited for its own copies itself: those of generations below this one (copies-in-flight.ts). */
  learnOwnWait(subgroup: Subgroup, lane: number, generation: number): void {
    const clock = subgroup.clocks[lane] as VectorClock;
    const at = this.#ownWait(subgroup.base + lane);
    if ((clock.times[at] as number) >= generation) return;
    const times = clock.times.slice();
    times[at] = generation;
    subgroup.clocks[lane] = { times, least: clock.least, others: clock.others };
  }

  /** Whether it is known that an invocation has itself waited for a copy that belongs to a phase. */
  knowsOwnWait(clock: VectorClock, invocation: number, generation: number): boolean {
    return generation < (clock.times[this.#ownWait(invocation)] as number);
  }

  #ownWait(invocation: number): number {
    return this.#invocations + this.#copyActors + invocation;
  }

  /** Finds out whether all lanes know the same. */
  shareClock(subgroup: Subgroup): void {
    const first = subgroup.clocks[0] as VectorClock;
    subgroup.commonClock = subgroup.clocks.every((clock) => clock === first) ? first : null;
  }

  join(a: VectorClock, b: VectorClock): VectorClock {
    if (a === this.#joined.a && b === this.#joined.b) return this.#joined.result;
    const result = this.#join(a, b);
    // The lanes of a subgroup mostly join the same.
    this.#joined = { a, b, result };
    return result;
  }

  #join(a: VectorClock, b: VectorClock): VectorClock {
    if (a === b || b === this.nothing) return a;
    if (a === this.nothing) return b;
    const others = joinTimes(a.others, b.others);
    if (others === a.others && covers(a.times, b.times)) return a;
    if (others === b.others && covers(b.times, a.times)) return b;
    const times = a.times.slice();
    raise(times, b.times);
    return this.#clock(times, others);
  }

  /**
   * An atomic operation of one lane on an element of a memory.
   *
   * @param older what had been released when the value was written that a load returned, where it is not the present one
   */
  atomic(
    subgroup: Subgroup,
    lane: number,
    { memory, element }: { readonly memory: number; readonly element: number },
    order: AtomicOrder,
    older: { readonly released: Released | undefined } | null,
  ): void {
    const released = this.#released[memory] as ReleasedClocks;
    const found = older === null ? released.get(element) : older.released;
    const before = found === undefined ? this.nothing : this.#seenFromHere(found);
    if (order.acquires && before !== this.nothing)
      subgroup.clocks[lane] = this.join(subgroup.clocks[lane] as VectorClock, before);
    if (!order.writes) return;
    const kept = order.modifies ? before : this.nothing;
    if (order.releases) {
      const clock = this.join(kept, subgroup.clocks[lane] as VectorClock);
      const times = clock.times.slice();
      times[subgroup.base + lane] = this.#time.now;
      released.set(element, { workgroup: this.#workgroup, clock: this.#clock(times, clock.others) });
    } else if (kept === this.nothing && found !== undefined) released.delete(element);
  }

  /** Whether an access of another workgroup is ordered before what the clock's invocation does now. */
  knowsOther(clock: VectorClock, workgroup: number, invocation: number, time: number): boolean {
    const times = timesOf(clock.others, workgroup);
    return times !== null && time <= (times[invocation] as number);
  }

  #setAll(clock: VectorClock, epochStart: number): void {
    for (const subgroup of this.#subgroups) {
      for (let lane = 0; lane < subgroup.lanes; lane++) subgroup.clocks[lane] = clock;
      subgroup.commonClock = clock;
      subgroup.epochStart = epochStart;
    }
  }

  /** What was released, as the present workgroup sees it. */
  #seenFromHere({ workgroup, clock }: Released): VectorClock {
    if (workgroup === this.#workgroup) return clock;
    const others = withTimes(clock.others, workgroup, clock.times);
    // It may have learned of this workgroup what not all here know.
    const ours = timesOf(clock.others, this.#workgroup);
    if (ours !== null) return this.#clock(ours, others);
    return { times: this.nothing.times, least: this.nothing.least, others };
  }

  #clock(times: Times, others: SparseTimes): VectorClock {
    const chunk = this.#chunk;
    const least = new Int32Array(Math.ceil(this.#invocations / chunk));
    for (let i = 0; i < least.length; i++) {
      const end = Math.min((i + 1) * chunk, this.#invocations);
      let found = times[i * chunk] as number;
      for (let j = i * chunk + 1; j < end; j++) if ((times[j] as number) < found) found = times[j] as number;
      least[i] = found;
    }
    return { times, least, others };
  }
}
