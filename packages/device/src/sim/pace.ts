/** Runs a launch step by step, with pauses in which the program can show how far it is and can stop it. */

/** How far a launch is. */
export interface LaunchProgress {
  /** Workgroups that have finished, and all of them. */
  readonly workgroups: number;
  readonly of: number;
  /** Different findings so far. */
  readonly findings: number;
}

/** Who wants to know how far it is, and to stop it. */
interface Listeners {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: LaunchProgress) => void;
}

/** Milliseconds between two pauses. */
const INTERVAL = 50;

/** Returns whether the launch was stopped before its end. Without a listener it runs through. */
export async function paced(
  steps: Generator<number, void, void>,
  { signal, onProgress }: Listeners,
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
