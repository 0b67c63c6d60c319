/**
 * Asynchronous copies in flight: the copies that each invocation has started, in groups, until it waits for them or until an
 * invocation sees that their phase is complete. The data moves at that moment; here we say that the copy lands.
 */

import type { Node } from "@evolver/kernel";
import type { AnyTypedArray } from "../../core/device.ts";
import { LaneSet } from "./subgroup.ts";
import type { Subgroup } from "./subgroup.ts";

/** Copies of one width between two memories: made by generated code (codegen/copies.ts). */
export interface CopyKind {
  /** The number of the memory they go to. */
  readonly memory: number;
  /** That of the memory they come from, if its elements are marked meanwhile. */
  readonly source: number | null;
  /** Bytes per lane. */
  readonly bytes: number;
  /** Writes the data, now. Who does is the copy's actor, or where it has none the lane of each copy. */
  land(copy: CopyInFlight): void;
  /** Copies that are over, for new ones. */
  readonly free: CopyInFlight[];
  newData(): AnyTypedArray;
}

/** What some lanes of a subgroup copy by one instruction. */
export interface CopyInFlight {
  readonly kind: CopyKind;
  readonly lanes: LaneSet;
  /** By lane: where its copy goes, in elements; what it copies; and of which of the lane's generations it is. */
  readonly to: Int32Array;
  readonly data: AnyTypedArray;
  readonly generation: Int32Array;
  /** Where it comes from (-1: from nowhere), if that is marked. */
  readonly from: Int32Array;
  subgroup: Subgroup;
  site: number;
  /** The actor of the phase barrier that it belongs to (HappensBefore), or -1. */
  actor: number;
  landed: boolean;
  /** Lists that hold it. */
  references: number;
}

/** The n-th groups of all invocations. */
interface Group {
  bytes: number;
  lanes: number;
  /** Who expects what. */
  readonly expected: Map<number, { readonly site: number; readonly lanes: number[] }>;
}

/** The bytes of a group are not those that are expected. */
export interface GroupMismatch {
  readonly group: number;
  readonly bytes: number;
  readonly expected: number;
  /** Who expects them, and where. */
  readonly site: number;
  readonly lanes: readonly number[];
}

/** What is said where something is wrong. */
export interface CopyReport {
  neverAwaited(copy: CopyInFlight): void;
  groupBytes(mismatch: GroupMismatch): void;
}

/** A lane that copies have landed for, and the generation below which it has waited for its copies. */
export interface OwnWait {
  readonly lane: number;
  readonly generation: number;
}

export class CopiesInFlight {
  readonly #report: CopyReport;
  readonly #sites: readonly Node[];
  /** By subgroup, in the order of starting. */
  readonly #queues: CopyInFlight[][];
  /** By invocation: groups so far, and bytes since the last one that belong to no phase. */
  readonly #committed: Int32Array;
  readonly #uncommittedBytes: Float64Array;
  readonly #groups = new Map<number, Group>();
  /**
   * By invocation: grows where a group ends and where the invocation waits for all its copies, so that those it has
   * waited for are those of generations below some number.
   */
  readonly #generation: Int32Array;
  /** By invocation: whether copies of it that belong to a phase have landed since it last waited for all. */
  readonly #landedForPhase: Uint8Array;

  constructor(subgroups: readonly Subgroup[], sites: readonly Node[], report: CopyReport) {
    const invocations = subgroups.reduce((sum, subgroup) => sum + subgroup.lanes, 0);
    this.#report = report;
    this.#sites = sites;
    this.#queues = subgroups.map(() => []);
    this.#committed = new Int32Array(invocations);
    this.#uncommittedBytes = new Float64Array(invocations);
    this.#generation = new Int32Array(invocations);
    this.#landedForPhase = new Uint8Array(invocations);
  }

  /** A copy to be filled. */
  take(kind: CopyKind, subgroup: Subgroup, site: number): CopyInFlight {
    const width = subgroup.all.mask.length;
    const copy = kind.free.pop() ?? {
      ...{ kind, subgroup, site, actor: -1, landed: false, references: 0 },
      lanes: LaneSet.empty(width),
      to: new Int32Array(width),
      data: kind.newData(),
      generation: new Int32Array(width),
      from: new Int32Array(kind.source === null ? 0 : width),
    };
    copy.subgroup = subgroup;
    copy.site = site;
    copy.actor = -1;
    copy.landed = false;
    copy.references = 1;
    return copy;
  }

  start(copy: CopyInFlight): void {
    const { subgroup, generation, lanes, kind } = copy;
    for (let lane = 0, i = subgroup.base; lane < subgroup.lanes; lane++, i++) {
      if (lanes.mask[lane] === 0) continue;
      generation[lane] = this.#generation[i] as number;
      (this.#uncommittedBytes[i] as number) += kind.bytes;
    }
    this.#queue(subgroup).push(copy);
  }

  /** Ends a group of each active lane. */
  commit(subgroup: Subgroup, { mask }: LaneSet, site: number): void {
    const node = this.#sites[site] as Node;
    const bytes = node.kind === "commitCopies" ? node.bytes : null;
    for (let lane = 0, i = subgroup.base; lane < subgroup.lanes; lane++, i++) {
      if (mask[lane] === 0) continue;
      const n = (this.#committed[i] as number)++;
      (this.#generation[i] as number)++;
      let group = this.#groups.get(n);
      if (group === undefined) this.#groups.set(n, (group = { bytes: 0, lanes: 0, expected: new Map() }));
      group.bytes += this.#uncommittedBytes[i] as number;
      this.#uncommittedBytes[i] = 0;
      if (bytes !== null) {
        const known = group.expected.get(bytes);
        if (known === undefined) group.expected.set(bytes, { site, lanes: [i] });
        else known.lanes.push(i);
      }
      if (++group.lanes === this.#committed.length) this.#closeGroup(n, group);
    }
  }

  /**
   * Lets the copies of active lanes land, all but those of their `newer` youngest groups; if 0 those of no group too.
   * Returns the lanes of which copies that belong to a phase have landed.
   */
  await(subgroup: Subgroup, { mask }: LaneSet, newer: number): OwnWait[] {
    const generations = this.#generation;
    const { base, lanes } = subgroup;
    if (newer === 0)
      for (let lane = 0; lane < lanes; lane++) (generations[base + lane] as number) += mask[lane] as number;
    const due = this.#takeDue(subgroup, (copy, dueLanes) => {
      let count = 0;
      for (let lane = 0; lane < lanes; lane++) {
        const isDue =
          copy.lanes.mask[lane] !== 0 &&
          mask[lane] !== 0 &&
          (copy.generation[lane] as number) < (generations[base + lane] as number) - newer;
        dueLanes[lane] = isDue ? 1 : 0;
        if (isDue) count++;
      }
      if (copy.actor < 0 || count === 0) return count;
      // It has landed for its phase too, which knows only whole copies; the other lanes are not told.
      for (let lane = 0; lane < lanes; lane++)
        if (dueLanes[lane] !== 0) this.#landedForPhase[base + lane] = 1;
      dueLanes.set(copy.lanes.mask);
      return copy.lanes.count;
    });
    for (const copy of due) this.#land(copy);
    const waits: OwnWait[] = [];
    for (let lane = 0; lane < lanes; lane++) {
      if (mask[lane] === 0 || this.#landedForPhase[base + lane] === 0) continue;
      if (newer === 0) this.#landedForPhase[base + lane] = 0;
      waits.push({ lane, generation: (generations[base + lane] as number) - newer });
    }
    return waits;
  }

  /**
   * Makes the copies that active lanes started since their last such arrival part of a phase that they arrive at.
   *
   * @param actor that of the phase barrier
   */
  attach(subgroup: Subgroup, { mask }: LaneSet, actor: number): CopyInFlight[] {
    const { base, lanes } = subgroup;
    const attached = this.#takeDue(subgroup, (copy, due) => {
      if (copy.actor >= 0) return 0;
      let count = 0;
      for (let lane = 0; lane < lanes; lane++) {
        due[lane] = copy.lanes.mask[lane] !== 0 && mask[lane] !== 0 ? 1 : 0;
        count += due[lane] as number;
      }
      return count;
    });
    const queue = this.#queue(subgroup);
    for (const copy of attached) {
      copy.actor = actor;
      // The phase counts them, so the lane's next group does not.
      for (let lane = 0, i = base; lane < lanes; lane++, i++)
        if (copy.lanes.mask[lane] !== 0 && copy.generation[lane] === this.#generation[i])
          (this.#uncommittedBytes[i] as number) -= copy.kind.bytes;
      // The subgroup keeps it too: the lanes may wait for their copies themselves.
      copy.references++;
      queue.push(copy);
    }
    return attached;
  }

  /** Lets the copies of a phase land, those that have not. */
  landPhase(copies: readonly CopyInFlight[]): void {
    for (const copy of copies) {
      const { subgroup, lanes, landed } = copy;
      if (!landed)
        for (let lane = 0; lane < subgroup.lanes; lane++)
          if (lanes.mask[lane] !== 0) this.#landedForPhase[subgroup.base + lane] = 1;
      this.#land(copy);
    }
  }

  /**
   * Returns the memories that copies are in flight from or to.
   *
   * @param finished whether the workgroup came to its end, so that what is left was left by it
   */
  endWorkgroup(finished: boolean): number[] {
    const left = new Set<number>();
    for (const queue of this.#queues) {
      for (const copy of queue) {
        if (copy.landed) continue;
        left.add(copy.kind.memory);
        if (copy.kind.source !== null) left.add(copy.kind.source);
        if (finished) this.#report.neverAwaited(copy);
      }
      queue.length = 0;
    }
    if (finished) for (const [n, group] of this.#groups) this.#closeGroup(n, group);
    this.#groups.clear();
    this.#committed.fill(0);
    this.#uncommittedBytes.fill(0);
    this.#generation.fill(0);
    this.#landedForPhase.fill(0);
    return [...left];
  }

  /** Lets a copy land that may have landed before, and takes it from one who held it. */
  #land(copy: CopyInFlight): void {
    if (!copy.landed) {
      copy.kind.land(copy);
      copy.landed = true;
    }
    this.#drop(copy);
  }

  #queue(subgroup: Subgroup): CopyInFlight[] {
    return this.#queues[subgroup.index] as CopyInFlight[];
  }

  #closeGroup(n: number, { bytes, expected }: Group): void {
    this.#groups.delete(n);
    if (bytes === 0) return;
    for (const [wanted, { site, lanes }] of expected)
      if (bytes !== wanted) this.#report.groupBytes({ group: n, bytes, expected: wanted, site, lanes });
  }

  /**
   * Takes out of a subgroup's queue what is due, whole copies or lanes of them; landed ones go too.
   *
   * @param find marks the lanes that are due and returns their number
   */
  #takeDue(subgroup: Subgroup, find: (copy: CopyInFlight, due: Uint8Array) => number): CopyInFlight[] {
    const queue = this.#queue(subgroup);
    const found: CopyInFlight[] = [];
    const due = new Uint8Array(subgroup.all.mask.length);
    let kept = 0;
    for (const copy of queue) {
      if (copy.landed) {
        this.#drop(copy);
        continue;
      }
      const count = find(copy, due);
      const whole = count === copy.lanes.count;
      if (count > 0) found.push(whole ? copy : this.#split(copy, due, count));
      if (!whole) queue[kept++] = copy;
    }
    queue.length = kept;
    return found;
  }

  /** Parts lanes from a copy. */
  #split(copy: CopyInFlight, due: Uint8Array, count: number): CopyInFlight {
    const part = this.take(copy.kind, copy.subgroup, copy.site);
    part.to.set(copy.to);
    part.from.set(copy.from);
    part.data.set(copy.data);
    part.generation.set(copy.generation);
    part.lanes.mask.set(due);
    part.lanes.count = count;
    part.actor = copy.actor;
    copy.lanes.count -= count;
    for (let lane = 0; lane < due.length; lane++) if (due[lane] !== 0) copy.lanes.mask[lane] = 0;
    return part;
  }

  #drop(copy: CopyInFlight): void {
    if (--copy.references === 0) copy.kind.free.push(copy);
  }
}
