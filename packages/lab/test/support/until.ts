/** Waiting for states instead of times. */

import { setTimeout as sleep } from "node:timers/promises";

/** Comes back when the condition holds, however long that takes; a test that waits in vain ends at Vitest's own limit. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10);
}
