/** What findings need to know of a workgroup under way: its memories, the nodes of site numbers, and which one it is. */

import type { Node } from "@evolver/kernel";
import type { Gathered } from "./gathered.ts";
import type { Report, Side, WorkgroupId } from "./report.ts";
import type { Binding, Storage } from "./storage.ts";
import type { LaneSet, Subgroup } from "./subgroup.ts";
import type { SimTime } from "./time.ts";

export interface LaunchFacts {
  readonly report: Report;
  readonly gathered: Gathered;
  readonly bindings: readonly Binding[];
  /** The node of each site number. */
  readonly sites: readonly Node[];
  readonly workgroups: readonly [number, number, number];
  readonly time: SimTime;
}

/** One lane's access to an element, as generated code describes it where something may be wrong. */
export interface Access {
  readonly subgroup: Subgroup;
  readonly lane: number;
  readonly site: number;
  /** "read", "write", "atomic" or "copy". */
  readonly action: string;
  /** The number of the memory. */
  readonly memory: number;
  readonly element: number;
}

/** A request of active lanes to a memory: `width` elements from where each one's index in a register says. */
export interface Request {
  readonly subgroup: Subgroup;
  readonly active: LaneSet;
  readonly site: number;
  readonly action: string;
  readonly memory: number;
  readonly indices: ArrayLike<number>;
  /** The position of lane 0's index in `indices`. */
  readonly first: number;
  readonly width: number;
}

export class LaunchContext {
  readonly report: Report;
  readonly bindings: readonly Binding[];
  readonly time: SimTime;
  readonly gathered: Gathered;
  readonly #sites: readonly Node[];
  readonly #workgroups: readonly [number, number, number];
  #workgroup: WorkgroupId = [0, 0, 0];

  constructor({ report, gathered, bindings, sites, workgroups, time }: LaunchFacts) {
    this.report = report;
    this.gathered = gathered;
    this.bindings = bindings;
    this.time = time;
    this.#sites = sites;
    this.#workgroups = workgroups;
  }

  beginWorkgroup(linear: number): void {
    this.#workgroup = this.workgroupId(linear);
  }

  get workgroup(): WorkgroupId {
    return this.#workgroup;
  }

  workgroupId(linear: number): WorkgroupId {
    const [x, y] = this.#workgroups;
    return [linear % x, Math.floor(linear / x) % y, Math.floor(linear / (x * y))];
  }

  node(site: number): Node {
    return this.#sites[site] as Node;
  }

  storage(memory: number): Storage {
    return (this.bindings[memory] as Binding).storage;
  }

  /** Whether nobody has written an element, in shared memory since the workgroup began. */
  isUnwritten(memory: number, element: number): boolean {
    const { space, storage, fresh } = this.bindings[memory] as Binding;
    const written = storage.writeTime[element];
    if (written === undefined) return false;
    return space === "shared" ? written < this.time.workgroupStart : fresh && written === 0;
  }

  /** A memory's name, for messages. */
  nameOf(memory: number): string {
    const { space, name } = this.bindings[memory] as Binding;
    return space === "shared" ? `shared "${name}"` : `buffer "${name}"`;
  }

  /** A side of a finding that some invocations of the present workgroup took. */
  side(action: string, site: number, invocations: readonly number[]): Side {
    return { action, site: this.node(site).site, lanes: invocations, workgroup: this.#workgroup };
  }

  sideOf({ action, site, subgroup, lane }: Access): Side {
    return this.side(action, site, [subgroup.base + lane]);
  }
}
