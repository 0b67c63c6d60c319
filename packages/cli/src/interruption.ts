/**
 * Ctrl-C and SIGTERM in long work: the first stops it at a point where nothing is lost, the second ends the process at once,
 * but not between the steps of something that must be whole.
 */

import { constants } from "node:os";
import type { Progress } from "./progress.ts";

export interface Interruption {
  readonly signal: AbortSignal;
  /** Signals end the process again, as they do by default. */
  end(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** The one that stopped the work. */
let received: (typeof SIGNALS)[number] = "SIGINT";

let forced = false;

/** Whether a second signal ends the process. */
export const isForced = (): boolean => forced;

/** The exit code of work that was stopped, as shells have it: 130 by Ctrl-C, 143 by SIGTERM. */
export const interruptedCode = (): number => 128 + constants.signals[received];

/**
 * @param text what the first signal says
 * @param settled ends when the process may end at any moment; after the second signal it is waited for
 */
export function stopOnSignals(
  progress: Progress,
  text = "stopping after complete results are written; press Ctrl-C again to stop at once",
  settled: () => Promise<void> = () => Promise.resolve(),
): Interruption {
  const controller = new AbortController();
  const stop = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) {
      forced = true;
      void settled().then(() => process.exit(interruptedCode()));
      return;
    }
    received = signal as typeof received;
    progress.line(text);
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  return {
    signal: controller.signal,
    end() {
      for (const signal of SIGNALS) process.off(signal, stop);
    },
  };
}
