/**
 * A thread of the judge's process that ends the whole process group when the lab is gone, also while the main thread
 * is stuck in a candidate.
 */

import { workerData } from "node:worker_threads";

/** The lab's process id, which this thread could start too late to see. */
const lab = workerData as number;

setInterval(() => {
  if (process.ppid !== lab) process.kill(-process.pid, "SIGKILL");
}, 500);
