/**
 * Happens-before with vector clocks, for launches that use acquire and release or that mix atomic and plain accesses
 * to one memory. Exact and slow; other launches need only barrier intervals (see memory.ts).
 *
 * Every invocation has a clock that ticks at barriers and releases. An access carries its invocation and clock (an
 * epoch) and is ordered before everything whose vector clock has reached it (FastTrack: Flanagan and Freund, 2009).
 */

/** What an invocation knows of others: by workgroup (linear index), the clock reached of each invocation. */
type VectorClock = ReadonlyMap<number, Int32Array>;

export interface Epoch {
  readonly workgroup: number;
  readonly invocation: number;
  readonly clock: number;
  readonly site: number;
}

interface Cell {
  write: Epoch | null;
  reads: Epoch[];
  atomics: Epoch[];
  /** What an acquiring access of this element learns. */
  released: VectorClock | null;
}

/** A conflicting earlier access. */
export interface Conflict {
  readonly other: Epoch;
  readonly action: "read" | "write" | "atomic";
}

export class Clocks {
  readonly #cells = new Map<object, Map<number, Cell>>();
  #workgroup = 0;
  #size = 0;
  #known: VectorClock[] = [];
  #clock = new Int32Array(0);

  beginWorkgroup(workgroup: number, invocations: number): void {
    this.#workgroup = workgroup;
    this.#size = invocations;
    this.#clock = new Int32Array(invocations).fill(1);
    this.#known = new Array<VectorClock>(invocations).fill(new Map());
  }

  /** Forgets the accesses to a memory that begins anew. */
  forget(storage: object): void {
    this.#cells.delete(storage);
  }

  /** All invocations of the workgroup met: each knows what any of them knew. */
  barrier(): void {
    let joined: VectorClock = new Map();
    for (let t = 0; t < this.#size; t++) joined = join(joined, this.#known[t] as VectorClock);
    const met = new Map(joined);
    met.set(this.#workgroup, this.#clock.slice());
    this.#known.fill(met);
    for (let t = 0; t < this.#size; t++) (this.#clock[t] as number)++;
  }

  read(storage: object, element: number, invocation: number, site: number): Conflict | null {
    const cell = this.#cell(storage, element);
    const conflict =
      this.#unordered(cell.write, invocation, "write") ?? this.#first(cell.atomics, invocation, "atomic");
    cell.reads = this.#append(cell.reads, invocation, site);
    return conflict;
  }

  write(storage: object, element: number, invocation: number, site: number): Conflict | null {
    const cell = this.#cell(storage, element);
    const conflict =
      this.#unordered(cell.write, invocation, "write") ??
      this.#first(cell.reads, invocation, "read") ??
      this.#first(cell.atomics, invocation, "atomic");
    cell.write = this.#epoch(invocation, site);
    cell.reads = [];
    cell.atomics = [];
    cell.released = null;
    return conflict;
  }

  /**
   * @param writes whether it is more than a load
   * @param modifies whether it reads and writes in one step, and so keeps what an earlier release published
   */
  atomic(
    storage: object,
    element: number,
    invocation: number,
    site: number,
    order: string,
    writes: boolean,
    modifies: boolean,
  ): Conflict | null {
    const cell = this.#cell(storage, element);
    const conflict =
      this.#unordered(cell.write, invocation, "write") ??
      (writes ? this.#first(cell.reads, invocation, "read") : null);
    if ((order === "acquire" || order === "acq_rel") && cell.released) {
      this.#known[invocation] = join(this.#known[invocation] as VectorClock, cell.released);
    }
    cell.atomics = this.#append(cell.atomics, invocation, site);
    if (writes) {
      const kept = modifies ? cell.released : null;
      if (order === "release" || order === "acq_rel") {
        const mine = this.#publish(invocation);
        cell.released = kept ? join(kept, mine) : mine;
      } else {
        cell.released = kept;
      }
    }
    return conflict;
  }

  #publish(invocation: number): VectorClock {
    const own = new Int32Array(this.#size);
    own[invocation] = this.#clock[invocation] as number;
    (this.#clock[invocation] as number)++;
    return join(this.#known[invocation] as VectorClock, new Map([[this.#workgroup, own]]));
  }

  #cell(storage: object, element: number): Cell {
    let cells = this.#cells.get(storage);
    if (cells === undefined) this.#cells.set(storage, (cells = new Map()));
    let cell = cells.get(element);
    if (cell === undefined)
      cells.set(element, (cell = { write: null, reads: [], atomics: [], released: null }));
    return cell;
  }

  #epoch(invocation: number, site: number): Epoch {
    return { workgroup: this.#workgroup, invocation, clock: this.#clock[invocation] as number, site };
  }

  /** Accesses that the new one is ordered after tell nothing that it does not, so they go. */
  #append(epochs: Epoch[], invocation: number, site: number): Epoch[] {
    const kept = epochs.filter((epoch) => !this.#ordered(epoch, invocation));
    kept.push(this.#epoch(invocation, site));
    return kept;
  }

  #ordered(epoch: Epoch, invocation: number): boolean {
    if (epoch.workgroup === this.#workgroup && epoch.invocation === invocation) return true;
    const reached = this.#known[invocation]?.get(epoch.workgroup);
    return reached !== undefined && epoch.clock <= (reached[epoch.invocation] as number);
  }

  #unordered(epoch: Epoch | null, invocation: number, action: Conflict["action"]): Conflict | null {
    return epoch === null || this.#ordered(epoch, invocation) ? null : { other: epoch, action };
  }

  #first(epochs: readonly Epoch[], invocation: number, action: Conflict["action"]): Conflict | null {
    for (const epoch of epochs) if (!this.#ordered(epoch, invocation)) return { other: epoch, action };
    return null;
  }
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
