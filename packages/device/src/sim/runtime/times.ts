/** Times of the actors of one workgroup (happens-before.ts): until when what each did is ordered before. */

export type Times = Int32Array;

/** Whether a is nowhere behind b. */
export function covers(a: Times, b: Times): boolean {
  for (let i = 0; i < a.length; i++) if ((a[i] as number) < (b[i] as number)) return false;
  return true;
}

/** Brings a up to b, in place. */
export function raise(a: Times, b: Times): void {
  for (let i = 0; i < a.length; i++) if ((a[i] as number) < (b[i] as number)) a[i] = b[i] as number;
}
