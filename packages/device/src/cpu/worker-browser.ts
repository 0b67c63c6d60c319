/** Browser only: starts workers, and is what such a worker runs. */

import { createServer, type WorkerHandle, type WorkerReply, type WorkerRequest } from "./worker.ts";

const NAME = "evolver-cpu-worker";

export function startWorker(): WorkerHandle {
  const worker = new Worker(new URL(import.meta.url), { type: "module", name: NAME });
  return {
    post: (request) => worker.postMessage(request),
    listen(onReply, onFailure) {
      worker.addEventListener("message", (event: MessageEvent<WorkerReply>) => onReply(event.data));
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
  postMessage?(reply: WorkerReply): void;
};

if (self.document === undefined && self.name === NAME) {
  const serve = createServer();
  self.onmessage = (event) => self.postMessage?.(serve(event.data));
}
