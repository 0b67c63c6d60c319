/** Vector clocks as data: what an invocation knows of what others have done. They never change, so that lanes share them. */

/** By actor of one workgroup (happens-before.ts): until when what it did is ordered before. */
export type Times = Int32Array;

/** The times of earlier workgroups, by linear index. */
export type EarlierTimes = ReadonlyMap<number, Times>;

export interface VectorClock {
  /** Of the present workgroup. */
  readonly times: Times;
  /** The least of `times` in each chunk of lanes (chunkLanes). */
  readonly least: Times;
  readonly earlier: EarlierTimes;
}

/** Lanes whose reads of an element are remembered together, as bits: a subgroup, or 32 lanes of a larger one. */
export const chunkLanes = (width: number): number => Math.min(width, 32);

/** Whether a is nowhere behind b. */
export function covers(a: Times, b: Times): boolean {
  for (let i = 0; i < a.length; i++) if ((a[i] as number) < (b[i] as number)) return false;
  return true;
}

/** Brings a up to b, in place. */
export function raise(a: Times, b: Times): void {
  for (let i = 0; i < a.length; i++) if ((a[i] as number) < (b[i] as number)) a[i] = b[i] as number;
}

/** What either knows of earlier workgroups. Returns one of the two where it holds the other. */
export function joinEarlier(a: EarlierTimes, b: EarlierTimes): EarlierTimes {
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
