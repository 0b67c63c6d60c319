/** Ctrl-C in long work: the first stops it at a point where nothing is lost, the second ends the process at once. */

import { EXIT } from "./output.ts";
import type { Progress } from "./progress.ts";

export interface Interruption {
  readonly signal: AbortSignal;
  /** Signals end the process again, as they do by default. */
  end(): void;
}

export function stopOnSignals(progress: Progress): Interruption {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    progress.line("stopping after complete results are written; press Ctrl-C again to stop at once");
    controller.abort();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return {
    signal: controller.signal,
    end() {
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
    },
  };
}
