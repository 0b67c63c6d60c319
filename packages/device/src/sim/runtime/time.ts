/**
 * The numbers of a device that only grow, over all its launches. Generated code reads and advances them, and the
 * runtime reads them to say when something happened.
 */

/** Times are 32-bit numbers; they are reset long before they overflow. */
const RENEW = 2 ** 30;

export class SimTime {
  /** The time: grows at every barrier, start of a workgroup, release of an invocation or subgroup, and change of workgroup. */
  now = 1;
  /** When the present launch began. */
  launchStart = 0;
  /** When the present workgroup began, last met at a barrier, and last got its turn. */
  workgroupStart = 0;
  lastBarrier = 0;
  turnStart = 0;
  /** The number of the instruction that a subgroup executes: what its lanes find there is one occurrence. */
  instruction = 0;
  /** Grows with every change of memory, so that the scheduler notices when no subgroup makes progress. */
  changes = 0;
  /** How often a subgroup has stopped. */
  stops = 0;
  /** The mark of the sectors or words that are being counted now, so that each counts once. */
  stamp = 0;
  /** The turns of the launch, ascending: when each began, and of which workgroup it is. */
  #turnTimes: number[] = [];
  #turnWorkgroups: number[] = [];
  /** The workgroup that has its turn. */
  workgroup = 0;

  beginLaunch(): void {
    this.launchStart = this.now;
    this.#turnTimes = [];
    this.#turnWorkgroups = [];
  }

  /** A workgroup begins, and has its turn. */
  beginWorkgroup(workgroup: number): void {
    this.beginTurn(workgroup);
    this.workgroupStart = this.lastBarrier = this.now;
  }

  /** A workgroup has its turn until the next one has. */
  beginTurn(workgroup: number): void {
    this.turnStart = ++this.now;
    this.workgroup = workgroup;
    this.#turnTimes.push(this.now);
    this.#turnWorkgroups.push(workgroup);
  }

  barrier(): void {
    this.lastBarrier = ++this.now;
  }

  /** Whether a time of this launch is one of the present workgroup. */
  isHere(when: number): boolean {
    if (when >= this.turnStart) return true;
    return when >= this.workgroupStart && this.workgroupAt(when) === this.workgroup;
  }

  /** The linear index of the workgroup that had its turn at a time. */
  workgroupAt(when: number): number {
    const times = this.#turnTimes;
    let low = 0;
    let high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((times[middle] as number) <= when) low = middle;
      else high = middle - 1;
    }
    return this.#turnWorkgroups[low] ?? 0;
  }

  /** Between launches: resets the time if it is large, so that all older times mean nothing. Returns whether it did. */
  renew(): boolean {
    if (this.now < RENEW) return false;
    this.now = 1;
    return true;
  }
}
