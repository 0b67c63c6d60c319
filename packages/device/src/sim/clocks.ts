/**
 * Happens-before with vector clocks, for launches that use acquire and release or that mix atomic and plain accesses
 * to one memory. Other launches need only barrier intervals, which are faster (memory.ts).
 *
 * Every invocation has a clock that ticks at barriers and releases. An access is remembered with its invocation and
 * clock (an epoch) and is ordered before everything whose vector clock has reached it, as in FastTrack (Flanagan and
 * Freund, 2009). Barriers order all that came before in the workgroup, which `time` tells without vector clocks.
 */

/** What an invocation knows of others: by workgroup (linear index), the clock reached of each invocation. */
type VectorClock = ReadonlyMap<number, Int32Array>;

const NOTHING: VectorClock = new Map();

export interface Epoch {
  readonly workgroup: number;
  readonly invocation: number;
  readonly clock: number;
  /** The barrier interval. */
  readonly time: number;
  readonly site: number;
}

/** A conflicting earlier access. */
export interface Conflict {
  readonly other: Epoch;
  readonly action: "read" | "write" | "atomic";
}

/** Accesses of one kind to one element since the last write: one epoch, or one for each invocation. */
class Accesses {
  latest: Epoch | null = null;
  /** Clocks (0 for none) and sites by invocation, once two that are not ordered are known. */
  clocks: Int32Array | null = null;
  sites: Int32Array | null = null;
  /** Those of other workgroups that the latest is not ordered after. */
  readonly earlier: Epoch[] = [];

  clear(): void {
    this.latest = null;
    this.clocks = null;
    this.sites = null;
    this.earlier.length = 0;
  }
}

/** What is remembered of one element. */
class Cell {
  write: Epoch | null = null;
  readonly reads = new Accesses();
  readonly atomics = new Accesses();
  /** What an acquiring access of this element learns. */
  released: VectorClock | null = null;
}

/** The cells of one memory, by element. */
export type History = Map<number, Cell>;

export class Clocks {
  #workgroup = 0;
  #size = 0;
  #time = 0;
  #known: VectorClock[] = [];
  #clock = new Int32Array(0);

  beginWorkgroup(workgroup: number, invocations: number): void {
    this.#workgroup = workgroup;
    this.#size = invocations;
    this.#time++;
    this.#clock = new Int32Array(invocations).fill(1);
    this.#known = new Array<VectorClock>(invocations).fill(NOTHING);
  }

  /** All invocations of the workgroup met: each knows what any of them knew. */
  barrier(): void {
    const met = new Map(this.#known.reduce(join, NOTHING));
    met.set(this.#workgroup, this.#clock.slice());
    this.#known.fill(met);
    for (let t = 0; t < this.#size; t++) (this.#clock[t] as number)++;
    this.#time++;
  }

  read(history: History, element: number, invocation: number, site: number): Conflict | null {
    const cell = cellOf(history, element);
    const { latest } = cell.reads;
    if (latest !== null && latest.invocation === invocation && latest.site === site && this.#isNow(latest))
      return null;
    const conflict =
      this.#conflict(cell.write, invocation, "write") ?? this.#find(cell.atomics, invocation, "atomic");
    this.#add(cell.reads, this.#epoch(invocation, site));
    return conflict;
  }

  write(history: History, element: number, invocation: number, site: number): Conflict | null {
    const cell = cellOf(history, element);
    const conflict =
      this.#conflict(cell.write, invocation, "write") ??
      this.#find(cell.reads, invocation, "read") ??
      this.#find(cell.atomics, invocation, "atomic");
    cell.write = this.#epoch(invocation, site);
    cell.reads.clear();
    cell.atomics.clear();
    cell.released = null;
    return conflict;
  }

  /**
   * @param writes whether it is more than a load
   * @param modifies whether it reads and writes in one step, and so keeps what an earlier release published
   */
  atomic(
    history: History,
    element: number,
    invocation: number,
    site: number,
    order: string,
    writes: boolean,
    modifies: boolean,
  ): Conflict | null {
    const cell = cellOf(history, element);
    const conflict =
      this.#conflict(cell.write, invocation, "write") ??
      (writes ? this.#find(cell.reads, invocation, "read") : null);
    if ((order === "acquire" || order === "acq_rel") && cell.released !== null)
      this.#known[invocation] = join(this.#known[invocation] as VectorClock, cell.released);
    this.#add(cell.atomics, this.#epoch(invocation, site));
    if (!writes) return conflict;
    const kept = modifies ? cell.released : null;
    if (order === "release" || order === "acq_rel") {
      const mine = this.#publish(invocation);
      cell.released = kept === null ? mine : join(kept, mine);
    } else {
      cell.released = kept;
    }
    return conflict;
  }

  #publish(invocation: number): VectorClock {
    const known = this.#known[invocation] as VectorClock;
    const clocks = known.get(this.#workgroup)?.slice() ?? new Int32Array(this.#size);
    clocks[invocation] = this.#clock[invocation] as number;
    (this.#clock[invocation] as number)++;
    return new Map(known).set(this.#workgroup, clocks);
  }

  #epoch(invocation: number, site: number): Epoch {
    const clock = this.#clock[invocation] as number;
    return { workgroup: this.#workgroup, invocation, clock, time: this.#time, site };
  }

  #isNow({ workgroup, invocation, clock }: Epoch): boolean {
    return workgroup === this.#workgroup && clock === this.#clock[invocation];
  }

  #ordered(epoch: Epoch, invocation: number): boolean {
    if (epoch.workgroup === this.#workgroup) {
      if (epoch.invocation === invocation || epoch.time < this.#time) return true;
    }
    const reached = this.#known[invocation]?.get(epoch.workgroup);
    return reached !== undefined && epoch.clock <= (reached[epoch.invocation] as number);
  }

  #conflict(epoch: Epoch | null, invocation: number, action: Conflict["action"]): Conflict | null {
    return epoch === null || this.#ordered(epoch, invocation) ? null : { other: epoch, action };
  }

  /** Remembers an access, and of the others those that it is not ordered after. */
  #add(accesses: Accesses, epoch: Epoch): void {
    const { latest } = accesses;
    const { invocation } = epoch;
    accesses.latest = epoch;
    if (latest === null) return;
    if (latest.workgroup !== this.#workgroup) {
      for (const other of epochsOf(accesses, latest))
        if (!this.#ordered(other, invocation)) accesses.earlier.push(other);
      accesses.clocks = null;
      accesses.sites = null;
      return;
    }
    if (latest.time < this.#time) {
      accesses.clocks = null;
      accesses.sites = null;
      return;
    }
    if (accesses.clocks === null) {
      if (this.#ordered(latest, invocation)) return;
      accesses.clocks = new Int32Array(this.#size);
      accesses.sites = new Int32Array(this.#size);
      accesses.clocks[latest.invocation] = latest.clock;
      accesses.sites[latest.invocation] = latest.site;
    }
    accesses.clocks[invocation] = epoch.clock;
    (accesses.sites as Int32Array)[invocation] = epoch.site;
  }

  /** One of the accesses that the invocation is not ordered after. */
  #find(accesses: Accesses, invocation: number, action: Conflict["action"]): Conflict | null {
    const { latest, clocks } = accesses;
    if (latest === null) return null;
    for (const epoch of accesses.earlier)
      if (!this.#ordered(epoch, invocation)) return { other: epoch, action };
    if (clocks === null || (latest.workgroup === this.#workgroup && latest.time < this.#time))
      return this.#conflict(latest, invocation, action);
    for (const epoch of epochsOf(accesses, latest))
      if (!this.#ordered(epoch, invocation)) return { other: epoch, action };
    return null;
  }
}

/** The epochs of the workgroup that came last. */
function* epochsOf({ clocks, sites }: Accesses, latest: Epoch): Generator<Epoch> {
  if (clocks === null || sites === null) return yield latest;
  const { workgroup, time } = latest;
  for (let invocation = 0; invocation < clocks.length; invocation++) {
    const clock = clocks[invocation] as number;
    if (clock > 0) yield { workgroup, invocation, clock, time, site: sites[invocation] as number };
  }
}

function cellOf(history: History, element: number): Cell {
  let cell = history.get(element);
  if (cell === undefined) history.set(element, (cell = new Cell()));
  return cell;
}

function join(a: VectorClock, b: VectorClock): VectorClock {
  if (a === b || b.size === 0) return a;
  if (a.size === 0) return b;
  const result = new Map(a);
  for (const [workgroup, clocks] of b) {
    const mine = result.get(workgroup);
    if (mine === clocks) continue;
    if (mine === undefined) result.set(workgroup, clocks);
    else
      result.set(
        workgroup,
        mine.map((clock, i) => Math.max(clock, clocks[i] as number)),
      );
  }
  return result;
}
