/** Node only: starts workers as threads, and is what such a thread runs. */

import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { createServer, READY, type WorkerHandle, type WorkerRequest } from "./worker.ts";

const ROLE = "evolver-cpu-worker";

export function startWorker(): WorkerHandle {
  // Options of the process, `--input-type` say, are about its own entry point.
  const worker = new Worker(new URL(import.meta.url), { workerData: ROLE, execArgv: [] });
  worker.unref();
  return {
    post: (request) => worker.postMessage(request),
    listen(onMessage, onFailure) {
      worker.on("message", onMessage);
      worker.on("error", onFailure);
    },
    hold: (held) => (held ? worker.ref() : worker.unref()),
    terminate: async () => {
      await worker.terminate();
    },
  };
}

if (!isMainThread && workerData === ROLE && parentPort !== null) {
  const port = parentPort;
  const serve = createServer();
  port.on("message", (request: WorkerRequest) => port.postMessage(serve(request)));
  port.postMessage(READY);
}
