/** Browser only: starts workers, and is what such a worker runs. */

import { instantiate, takeWorkgroups } from "./instance.ts";
import { createServer, READY, type WorkerHandle, type WorkerMessage, type WorkerRequest } from "./worker.ts";

const NAME = "evolver-cpu-worker";

export function startWorker(): WorkerHandle {
  const worker = new Worker(new URL(import.meta.url), { type: "module", name: NAME });
  return {
    post: (request) => worker.postMessage(request),
    listen(onMessage, onFailure) {
      worker.addEventListener("message", (event: MessageEvent<WorkerMessage>) => onMessage(event.data));
      worker.addEventListener("error", (event) => onFailure(event.error ?? event.message));
    },
    hold: () => {},
    terminate: async () => worker.terminate(),
  };
}

const self = globalThis as unknown as {
  readonly name?: string;
  readonly document?: unknown;
  onmessage: ((event: MessageEvent<WorkerRequest>) => void) | null;
  postMessage?(message: WorkerMessage): void;
};

if (self.document === undefined && self.name === NAME) {
  const serve = createServer({
    reply: (message) => self.postMessage?.(message),
    instantiate,
    takeWorkgroups,
  });
  self.onmessage = (event) => serve(event.data);
  self.postMessage?.(READY);
}
