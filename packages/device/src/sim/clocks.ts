/**
 * Happens-before with vector clocks, for launches in which subgroups wait for each other or atomics acquire and release.
 * Other launches need only barrier intervals, which are cheaper (checks.ts).
 *
 * The clock of every invocation is the time of generated code (memory.ts), which grows at each barrier and at each
 * instruction that releases. An access is remembered as who made it and when, as in FastTrack (Flanagan and Freund, 2009),
 * and is ordered before everything that knows that invocation up to that time. What lanes of a subgroup know is the
 * same object as long as it is the same.
 */

import { WHO, unitLanes } from "./checks.ts";
import type { Known, Subgroup, Times } from "./subgroup.ts";

/** What a release published, and the workgroup that it speaks of. */
interface Released {
  readonly workgroup: number;
  readonly known: Known;
}

const NOBODY: ReadonlyMap<number, Times> = new Map();

export class Clocks {
  readonly nothing: Known;
  readonly #size: number;
  /** How many phase barriers land copies as actors of their own, numbers size and up. */
  readonly #landers: number;
  /** Lengths of `here`: invocations, landers, and, where there are any, for each invocation its copies (see waited). */
  readonly #actors: number;
  readonly #unit: number;
  readonly #subgroups: readonly Subgroup[];
  /** What an acquiring access learns, by memory and element. */
  readonly #released: readonly Map<number, Released>[];
  #workgroup = 0;
  /** The last join. */
  #joined: { readonly a: Known; readonly b: Known; readonly result: Known };

  /**
   * @param memories how many there are
   * @param phases phase barriers: what belongs to a phase lands when it is seen complete, which those who started the
   *   copies do not know, so that each barrier is an actor of its own
   */
  constructor(subgroups: readonly Subgroup[], memories: number, phases: number) {
    this.#subgroups = subgroups;
    this.#size = subgroups.reduce((sum, subgroup) => sum + subgroup.lanes, 0);
    this.#unit = unitLanes(subgroups[0]?.mask.length ?? 32);
    this.#released = Array.from({ length: memories }, () => new Map<number, Released>());
    // Beyond the room that marks have for them, barriers share.
    this.#landers = Math.min(phases, WHO - this.#size);
    this.#actors = phases > 0 ? this.#size * 2 + this.#landers : this.#size;
    this.nothing = this.#freeze(new Int32Array(this.#actors), NOBODY);
    this.#joined = { a: this.nothing, b: this.nothing, result: this.nothing };
  }

  beginWorkgroup(workgroup: number, time: number): void {
    this.#workgroup = workgroup;
    this.#learn(this.nothing, time);
  }

  /** Drops what was released through a memory that has new contents. */
  forget(memory: number): void {
    this.#released[memory]?.clear();
  }

  /** All invocations of the workgroup met at this time: each knows what any of them knew. */
  barrier(time: number): void {
    let { there } = this.nothing;
    for (const subgroup of this.#subgroups) {
      let last: Known | null = null;
      for (const known of subgroup.known) {
        if (known !== last) there = joinThere(there, known.there);
        last = known;
      }
    }
    // That includes every copy that has landed, so that those that lanes waited for themselves need not be told apart.
    const here = new Int32Array(this.#actors).fill(time, 0, this.#size + this.#landers);
    this.#learn(this.#freeze(here, there), time + 1);
  }

  /** Active lanes of a subgroup met. */
  fence(S: Subgroup, M: Uint8Array, time: number): void {
    this.learn(S, M, this.publish(S, M, this.nothing, time));
    S.tick = time + 1;
  }

  /** What active lanes of a subgroup release together at this time, over what was released before. */
  publish(S: Subgroup, M: Uint8Array, before: Known, time: number): Known {
    const here = before.here.slice();
    let { there } = before;
    let last: Known | null = null;
    for (let l = 0; l < S.lanes; l++) {
      if (M[l] === 0) continue;
      const known = S.known[l] as Known;
      if (known !== last && known !== this.nothing) {
        there = joinThere(there, known.there);
        raise(here, known.here);
      }
      last = known;
    }
    for (let l = 0; l < S.lanes; l++) if (M[l] !== 0) here[S.base + l] = time;
    return this.#freeze(here, there);
  }

  /** Active lanes learn what was released. */
  learn(S: Subgroup, M: Uint8Array, released: Known): void {
    let last: Known | null = null;
    let result = released;
    for (let l = 0; l < S.lanes; l++) {
      if (M[l] === 0) continue;
      const known = S.known[l] as Known;
      if (known !== last) result = this.join(known, released);
      last = known;
      S.known[l] = result;
    }
    this.agree(S);
  }

  /** Who lands the copies of a phase barrier, of all those of the workgroup by number. */
  lander(phaseBarrier: number): number {
    return this.#size + (phaseBarrier % this.#landers);
  }

  /** Adds that copies which somebody lands have landed until this time. */
  withLanded(known: Known, lander: number, time: number): Known {
    const here = known.here.slice();
    here[lander] = time;
    return { here, low: known.low, there: known.there };
  }

  /** A lane waited for its own copies itself: those of generations below this one (flights.ts). */
  learnWaited(S: Subgroup, lane: number, generation: number): void {
    const known = S.known[lane] as Known;
    const at = this.#waited(S.base + lane);
    if ((known.here[at] as number) >= generation) return;
    const here = known.here.slice();
    here[at] = generation;
    S.known[lane] = { here, low: known.low, there: known.there };
  }

  /** Whether a lane knows that an invocation has itself waited for a copy that belongs to a phase. */
  knowsWaited(known: Known, invocation: number, generation: number): boolean {
    return generation < (known.here[this.#waited(invocation)] as number);
  }

  #waited(invocation: number): number {
    return this.#size + this.#landers + invocation;
  }

  /** Finds out whether all lanes know the same. */
  agree(S: Subgroup): void {
    const first = S.known[0] as Known;
    S.common = S.known.every((known) => known === first) ? first : null;
  }

  join(a: Known, b: Known): Known {
    if (a === this.#joined.a && b === this.#joined.b) return this.#joined.result;
    const result = this.#join(a, b);
    // The lanes of a subgroup mostly join the same.
    this.#joined = { a, b, result };
    return result;
  }

  #join(a: Known, b: Known): Known {
    if (a === b || b === this.nothing) return a;
    if (a === this.nothing) return b;
    const there = joinThere(a.there, b.there);
    if (there === a.there && covers(a.here, b.here)) return a;
    if (there === b.there && covers(b.here, a.here)) return b;
    const here = a.here.slice();
    raise(here, b.here);
    return this.#freeze(here, there);
  }

  /**
   * An atomic operation of one lane.
   *
   * @param writes whether it is more than a load
   * @param modifies whether it reads and writes in one step, and so keeps what an earlier release published
   */
  atomic(
    memory: number,
    element: number,
    S: Subgroup,
    lane: number,
    order: string,
    writes: boolean,
    modifies: boolean,
    time: number,
  ): void {
    const released = this.#released[memory] as Map<number, Released>;
    const found = released.get(element);
    const before = found === undefined ? this.nothing : this.#fromHere(found);
    if ((order === "acquire" || order === "acq_rel") && before !== this.nothing)
      S.known[lane] = this.join(S.known[lane] as Known, before);
    if (!writes) return;
    const kept = modifies ? before : this.nothing;
    if (order === "release" || order === "acq_rel") {
      const known = this.join(kept, S.known[lane] as Known);
      const here = known.here.slice();
      here[S.base + lane] = time;
      released.set(element, { workgroup: this.#workgroup, known: this.#freeze(here, known.there) });
    } else if (kept === this.nothing && found !== undefined) released.delete(element);
  }

  /** Whether an access of an earlier workgroup is ordered before what a lane does now. */
  knows(known: Known, workgroup: number, invocation: number, time: number): boolean {
    const times = known.there.get(workgroup);
    return times !== undefined && time <= (times[invocation] as number);
  }

  #learn(known: Known, tick: number): void {
    for (const subgroup of this.#subgroups) {
      for (let l = 0; l < subgroup.lanes; l++) subgroup.known[l] = known;
      subgroup.common = known;
      subgroup.tick = tick;
    }
  }

  /** Knowledge as the present workgroup sees it. */
  #fromHere({ workgroup, known }: Released): Known {
    if (workgroup === this.#workgroup) return known;
    const there = joinThere(known.there, new Map([[workgroup, known.here]]));
    return { here: this.nothing.here, low: this.nothing.low, there };
  }

  #freeze(here: Times, there: ReadonlyMap<number, Times>): Known {
    const unit = this.#unit;
    const low = new Int32Array(Math.ceil(this.#size / unit));
    for (let u = 0; u < low.length; u++) {
      let least = here[u * unit] as number;
      const end = Math.min((u + 1) * unit, this.#size);
      for (let i = u * unit + 1; i < end; i++) if ((here[i] as number) < least) least = here[i] as number;
      low[u] = least;
    }
    return { here, low, there };
  }
}

function covers(a: Times, b: Times): boolean {
  for (let i = 0; i < a.length; i++) if ((a[i] as number) < (b[i] as number)) return false;
  return true;
}

function raise(a: Times, b: Times): void {
  for (let i = 0; i < a.length; i++) if ((a[i] as number) < (b[i] as number)) a[i] = b[i] as number;
}

/** Returns one of the two where it holds the other. */
function joinThere(a: ReadonlyMap<number, Times>, b: ReadonlyMap<number, Times>): ReadonlyMap<number, Times> {
  if (a === b || b.size === 0) return a;
  if (a.size === 0) return b;
  let result: Map<number, Times> | null = null;
  for (const [workgroup, times] of b) {
    const mine = (result ?? a).get(workgroup);
    if (mine === times || (mine !== undefined && covers(mine, times))) continue;
    result ??= new Map(a);
    if (mine === undefined) result.set(workgroup, times);
    else {
      const joined = mine.slice();
      raise(joined, times);
      result.set(workgroup, joined);
    }
  }
  return result ?? a;
}
