/**
 * The numbers of a device that only grow, over all its launches. Generated code reads and advances them, and the
 * runtime reads them to say when something happened.
 */

/** Times are 32-bit numbers; they are reset long before they overflow. */
const RENEW = 2 ** 30;

export class SimTime {
  /** The time: grows at every barrier, start of a workgroup, and release of an invocation or subgroup. */
  now = 1;
  /** When the present launch and workgroup began, and when the workgroup last met at a barrier. */
  launchStart = 0;
  workgroupStart = 0;
  lastBarrier = 0;
  /** The number of the instruction that a subgroup executes: what its lanes find there is one occurrence. */
  instruction = 0;
  /** Grows with every change of memory, so that the scheduler notices when no subgroup makes progress. */
  changes = 0;
  /** The mark of the sectors or words that are being counted now, so that each counts once. */
  stamp = 0;

  beginLaunch(): void {
    this.launchStart = this.now;
  }

  /** Returns when the workgroup begins. */
  beginWorkgroup(): number {
    return (this.workgroupStart = this.lastBarrier = ++this.now);
  }

  barrier(): void {
    this.lastBarrier = ++this.now;
  }

  /** Between launches: resets the time if it is large, so that all older times mean nothing. Returns whether it did. */
  renew(): boolean {
    if (this.now < RENEW) return false;
    this.now = 1;
    return true;
  }
}
