/** The worker threads of a device: started when first needed, all of them work on each launch. */

import { EvolverError } from "@evolver/kernel";
import type { LaunchAddresses } from "./instance.ts";
import type { WorkerHandle, WorkerReply } from "./worker.ts";

export interface PoolLaunch {
  readonly program: number;
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** For each worker. */
  readonly addresses: readonly LaunchAddresses[];
  readonly workgroups: number;
}

interface Pending {
  readonly launch: number;
  waiting: number;
  error: string | null;
  resolve(error: string | null): void;
  reject(error: unknown): void;
}

export class WorkerPool {
  readonly size: number;
  #workers: Promise<WorkerHandle[]> | null = null;
  /** By worker: the programs that it has. */
  readonly #known: Set<number>[] = [];
  #pending: Pending | null = null;
  #launches = 0;

  constructor(size: number) {
    this.size = size;
  }

  /** Runs what is left of a launch; one at a time. Resolves to the message of a trap, or null. */
  async run(work: PoolLaunch): Promise<string | null> {
    const workers = await (this.#workers ??= this.#start());
    const launch = ++this.#launches;
    const { program, memory, workgroups } = work;
    try {
      return await new Promise<string | null>((resolve, reject) => {
        this.#pending = { launch, waiting: workers.length, error: null, resolve, reject };
        workers.forEach((worker, i) => {
          const known = this.#known[i] as Set<number>;
          const module = known.has(program) ? null : work.module;
          known.add(program);
          worker.hold(true);
          const addresses = work.addresses[i] as LaunchAddresses;
          worker.post({ launch, program, module, memory, addresses, workgroups, threads: workers.length });
        });
      });
    } finally {
      this.#pending = null;
      for (const worker of workers) worker.hold(false);
    }
  }

  async close(): Promise<void> {
    const workers = await this.#workers;
    this.#workers = null;
    if (workers) await Promise.all(workers.map((worker) => worker.terminate()));
  }

  async #start(): Promise<WorkerHandle[]> {
    const inNode = typeof process !== "undefined" && process.versions?.node !== undefined;
    const { startWorker } = await (inNode ? import("./worker-node.ts") : import("./worker-browser.ts"));
    return Array.from({ length: this.size }, () => {
      const worker = startWorker();
      this.#known.push(new Set());
      worker.listen(
        (reply) => this.#reply(reply),
        (error) => this.#failed(error),
      );
      return worker;
    });
  }

  #reply(reply: WorkerReply): void {
    const pending = this.#pending;
    if (pending === null || pending.launch !== reply.launch) return;
    pending.error ??= reply.error;
    if (--pending.waiting === 0) pending.resolve(pending.error);
  }

  #failed(cause: unknown): void {
    this.#pending?.reject(
      new EvolverError("WORKER_FAILED", "a worker thread of the cpu device ended unexpectedly", {
        hint: "open the device anew, with fewer workers if memory is short",
        cause,
      }),
    );
  }
}
