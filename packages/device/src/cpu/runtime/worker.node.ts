/**
 * Node only: starts workers as threads. A worker's program is the text of a few functions, because a thread that loads
 * modules of TypeScript takes three times as long to start.
 */

import { Worker } from "node:worker_threads";
import { instantiate, takeWorkgroups } from "./instance.ts";
import { createServer, READY, type WorkerHandle } from "./worker.ts";

const program = (): string => `
  const { parentPort } = require("node:worker_threads");
  const reply = (message) => parentPort.postMessage(message);
  const instantiate = ${instantiate};
  const takeWorkgroups = ${takeWorkgroups};
  const createServer = ${createServer};
  parentPort.on("message", createServer({ reply, instantiate, takeWorkgroups }));
  reply(${JSON.stringify(READY)});`;

export function startWorker(): WorkerHandle {
  // Options of the process, `--input-type` say, are about its own entry point.
  const worker = new Worker(program(), { eval: true, execArgv: [] });
  return {
    post: (request) => worker.postMessage(request),
    listen(onMessage, onFailure) {
      worker.on("message", onMessage);
      worker.on("error", onFailure);
      // Listening to messages keeps the process alive.
      worker.unref();
    },
    hold: (held) => (held ? worker.ref() : worker.unref()),
    terminate: async () => {
      await worker.terminate();
    },
  };
}
