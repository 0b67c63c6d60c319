/**
 * Asynchronous copies that are under way: what each invocation has started, in groups, until it waits for them or until
 * somebody sees the phase complete that they belong to. The data moves when a copy lands.
 */

import type { Node } from "@evolver/kernel";
import type { AnyTypedArray } from "../core/device.ts";
import type { Subgroup } from "./subgroup.ts";

/** Copies of one width to one memory: generated code (copies.ts). */
export interface FlightType {
  readonly memory: number;
  /** The memory they come from, if its elements are marked meanwhile. */
  readonly source: number | null;
  /** Bytes a lane. */
  readonly bytes: number;
  /** Writes the data, now. Who does is the flight's lander, or where it has none the lane of each copy. */
  land(flight: Flight): void;
  /** Flights that are over, for new ones. */
  readonly free: Flight[];
  data(): AnyTypedArray;
}

/** What some lanes of a subgroup copy by one instruction. */
export interface Flight {
  readonly type: FlightType;
  /** Where each lane's copy goes, in elements; what it copies; and of which of the lane's generations it is. */
  readonly at: Int32Array;
  readonly data: AnyTypedArray;
  /** Where it comes from (-1: from nowhere), if that is marked. */
  readonly from: Int32Array;
  readonly generation: Int32Array;
  readonly mask: Uint8Array;
  subgroup: Subgroup;
  site: number;
  /** Lanes in the mask. */
  count: number;
  /** The number of the phase barrier that it belongs to (see Clocks), or -1. */
  lander: number;
  landed: boolean;
  /** Lists that hold it. */
  holders: number;
}

/** The n-th groups of all invocations. */
interface Group {
  bytes: number;
  lanes: number;
  /** Who expects what. */
  readonly expected: Map<number, { readonly site: number; readonly lanes: number[] }>;
}

/** What is said where something is wrong. */
export interface FlightReport {
  neverAwaited(flight: Flight): void;
  groupBytes(group: number, bytes: number, expected: number, site: number, lanes: readonly number[]): void;
}

export class Flights {
  readonly #report: FlightReport;
  readonly #sites: readonly Node[];
  /** By subgroup, in the order of starting. */
  readonly #queues: Flight[][];
  /** By invocation: groups so far, and bytes since the last one that belong to no phase. */
  readonly #committed: Int32Array;
  readonly #open: Float64Array;
  readonly #groups = new Map<number, Group>();
  /**
   * By invocation: grows where a group ends and where the invocation waits for all its copies, so that those it has
   * waited for are those of generations below some number.
   */
  readonly #generation: Int32Array;
  /** By invocation: whether copies of it that belong to a phase have landed since it last waited for all. */
  readonly #seen: Uint8Array;

  constructor(subgroups: readonly Subgroup[], sites: readonly Node[], report: FlightReport) {
    const invocations = subgroups.reduce((sum, subgroup) => sum + subgroup.lanes, 0);
    this.#report = report;
    this.#sites = sites;
    this.#queues = subgroups.map(() => []);
    this.#committed = new Int32Array(invocations);
    this.#open = new Float64Array(invocations);
    this.#generation = new Int32Array(invocations);
    this.#seen = new Uint8Array(invocations);
  }

  /** A flight to be filled. */
  take(type: FlightType, subgroup: Subgroup, site: number): Flight {
    const width = subgroup.mask.length;
    const flight = type.free.pop() ?? {
      ...{ type, subgroup, site, count: 0, lander: -1, landed: false, holders: 0 },
      at: new Int32Array(width),
      from: new Int32Array(type.source === null ? 0 : width),
      generation: new Int32Array(width),
      mask: new Uint8Array(width),
      data: type.data(),
    };
    flight.subgroup = subgroup;
    flight.site = site;
    flight.lander = -1;
    flight.landed = false;
    flight.holders = 1;
    return flight;
  }

  start(flight: Flight): void {
    const { subgroup, generation, mask, type } = flight;
    for (let l = 0, i = subgroup.base; l < subgroup.lanes; l++, i++) {
      if (mask[l] === 0) continue;
      generation[l] = this.#generation[i] as number;
      (this.#open[i] as number) += type.bytes;
    }
    this.#queue(subgroup).push(flight);
  }

  /** Ends a group of each active lane. */
  commit(S: Subgroup, M: Uint8Array, site: number): void {
    const node = this.#sites[site] as Node;
    const bytes = node.kind === "commitCopies" ? node.bytes : null;
    for (let l = 0, i = S.base; l < S.lanes; l++, i++) {
      if (M[l] === 0) continue;
      const n = (this.#committed[i] as number)++;
      (this.#generation[i] as number)++;
      let group = this.#groups.get(n);
      if (group === undefined) this.#groups.set(n, (group = { bytes: 0, lanes: 0, expected: new Map() }));
      group.bytes += this.#open[i] as number;
      this.#open[i] = 0;
      if (bytes !== null) {
        const known = group.expected.get(bytes);
        if (known === undefined) group.expected.set(bytes, { site, lanes: [i] });
        else known.lanes.push(i);
      }
      if (++group.lanes === this.#committed.length) this.#close(n, group);
    }
  }

  /**
   * Lets the copies of active lanes land, all but those of their `newer` youngest groups; if 0 those of no group too.
   * Returns the lanes of which copies that belong to a phase have landed, each with the generation below which it has
   * waited for its copies.
   */
  await(S: Subgroup, M: Uint8Array, newer: number): { lane: number; generation: number }[] {
    const generations = this.#generation;
    const { base, lanes } = S;
    if (newer === 0) for (let l = 0; l < lanes; l++) (generations[base + l] as number) += M[l] as number;
    this.#sift(S, (flight, due) => {
      let count = 0;
      for (let l = 0; l < lanes; l++) {
        const isDue =
          flight.mask[l] !== 0 &&
          M[l] !== 0 &&
          (flight.generation[l] as number) < (generations[base + l] as number) - newer;
        due[l] = isDue ? 1 : 0;
        if (isDue) count++;
      }
      if (flight.lander < 0 || count === 0) return count;
      // It has landed for its phase too, which knows only whole flights; the other lanes are not told.
      for (let l = 0; l < lanes; l++) if (due[l] !== 0) this.#seen[base + l] = 1;
      due.set(flight.mask);
      return flight.count;
    }).forEach((flight) => this.#land(flight));
    const seen: { lane: number; generation: number }[] = [];
    for (let lane = 0; lane < lanes; lane++) {
      if (M[lane] === 0 || this.#seen[base + lane] === 0) continue;
      if (newer === 0) this.#seen[base + lane] = 0;
      seen.push({ lane, generation: (generations[base + lane] as number) - newer });
    }
    return seen;
  }

  /** Makes the copies that active lanes started since their last such arrival part of a phase that they arrive at. */
  attach(S: Subgroup, M: Uint8Array, lander: number): Flight[] {
    const { base, lanes } = S;
    const attached = this.#sift(S, (flight, due) => {
      if (flight.lander >= 0) return 0;
      let count = 0;
      for (let l = 0; l < lanes; l++) {
        due[l] = flight.mask[l] !== 0 && M[l] !== 0 ? 1 : 0;
        count += due[l] as number;
      }
      return count;
    });
    const queue = this.#queue(S);
    for (const flight of attached) {
      flight.lander = lander;
      // The phase counts them, so the lane's next group does not.
      for (let l = 0, i = base; l < lanes; l++, i++)
        if (flight.mask[l] !== 0 && flight.generation[l] === this.#generation[i])
          (this.#open[i] as number) -= flight.type.bytes;
      // The subgroup keeps it too: the lanes may wait for their copies themselves.
      flight.holders++;
      queue.push(flight);
    }
    return attached;
  }

  /** Lets the copies of a phase land, those that have not. */
  landPhase(flights: readonly Flight[]): void {
    for (const flight of flights) {
      const { subgroup, mask, landed } = flight;
      if (!landed)
        for (let l = 0; l < subgroup.lanes; l++) if (mask[l] !== 0) this.#seen[subgroup.base + l] = 1;
      this.#land(flight);
    }
  }

  /**
   * Returns the memories that copies are under way from or to.
   *
   * @param finished whether the workgroup came to its end, so that what is left was left by it
   */
  endWorkgroup(finished: boolean): number[] {
    const left = new Set<number>();
    for (const queue of this.#queues) {
      for (const flight of queue) {
        if (flight.landed) continue;
        left.add(flight.type.memory);
        if (flight.type.source !== null) left.add(flight.type.source);
        if (finished) this.#report.neverAwaited(flight);
      }
      queue.length = 0;
    }
    if (finished) for (const [n, group] of this.#groups) this.#close(n, group);
    this.#groups.clear();
    this.#committed.fill(0);
    this.#open.fill(0);
    this.#generation.fill(0);
    this.#seen.fill(0);
    return [...left];
  }

  /** Lets a copy land that may have landed before, and takes it from one who held it. */
  #land(flight: Flight): void {
    if (!flight.landed) {
      flight.type.land(flight);
      flight.landed = true;
    }
    this.#drop(flight);
  }

  #queue(S: Subgroup): Flight[] {
    return this.#queues[S.index] as Flight[];
  }

  #close(n: number, { bytes, expected }: Group): void {
    this.#groups.delete(n);
    if (bytes === 0) return;
    for (const [wanted, { site, lanes }] of expected)
      if (bytes !== wanted) this.#report.groupBytes(n, bytes, wanted, site, lanes);
  }

  /**
   * Takes out of a subgroup's queue what is due, whole flights or lanes of them; landed ones go too.
   *
   * @param find marks the lanes that are due and returns their number
   */
  #sift(S: Subgroup, find: (flight: Flight, due: Uint8Array) => number): Flight[] {
    const queue = this.#queue(S);
    const found: Flight[] = [];
    const due = new Uint8Array(S.mask.length);
    let kept = 0;
    for (const flight of queue) {
      if (flight.landed) {
        this.#drop(flight);
        continue;
      }
      const count = find(flight, due);
      const whole = count === flight.count;
      if (count > 0) found.push(whole ? flight : this.#split(flight, due, count));
      if (!whole) queue[kept++] = flight;
    }
    queue.length = kept;
    return found;
  }

  /** Parts lanes from a flight. */
  #split(flight: Flight, due: Uint8Array, count: number): Flight {
    const part = this.take(flight.type, flight.subgroup, flight.site);
    part.at.set(flight.at);
    part.from.set(flight.from);
    part.data.set(flight.data);
    part.generation.set(flight.generation);
    part.mask.set(due);
    part.count = count;
    part.lander = flight.lander;
    flight.count -= count;
    for (let l = 0; l < due.length; l++) if (due[l] !== 0) flight.mask[l] = 0;
    return part;
  }

  #drop(flight: Flight): void {
    if (--flight.holders === 0) flight.type.free.push(flight);
  }
}
