/** Runs a launch step by step, with pauses in which the program can show how far it is and can stop it. */

import type { ResolvedSimOptions } from "./options.ts";

/** How far a launch is. */
export interface LaunchProgress {
  /** Workgroups that have finished, and all of them. */
  readonly workgroups: number;
  readonly of: number;
  /** Different findings so far. */
  readonly findings: number;
}

/** Milliseconds between two pauses. */
const INTERVAL = 50;

/** Returns whether the launch was stopped before its end. Without a listener it runs through. */
export async function paced(
  steps: Generator<number, void, void>,
  { signal, onProgress }: Pick<ResolvedSimOptions, "signal" | "onProgress">,
  progress: (done: number) => LaunchProgress,
): Promise<boolean> {
  let next = performance.now() + INTERVAL;
  for (const done of steps) {
    if ((signal === undefined && onProgress === undefined) || performance.now() < next) continue;
    onProgress?.(progress(done));
    await new Promise((resume) => setTimeout(resume));
    if (signal?.aborted === true) return true;
    next = performance.now() + INTERVAL;
  }
  return false;
}
