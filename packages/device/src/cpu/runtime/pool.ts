/** The worker threads of a device: started when first needed, all of them work on each launch. */

import { EvolverError } from "@evolver/base";
import type { LaunchAddresses } from "./instance.ts";
import { READY, type WorkerHandle, type WorkerMessage } from "./worker.ts";

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
  #workers: WorkerHandle[] = [];
  #starting: Promise<void> | null = null;
  #ready = 0;
  #failure: unknown = null;
  /** By worker: the programs that it has. */
  #known: Set<number>[] = [];
  #pending: Pending | null = null;
  #launches = 0;

  constructor(size: number) {
    this.size = size;
  }

  /** Whether all workers can take work. Starting takes a while; throws WORKER_FAILED if it could not be done. */
  get ready(): boolean {
    if (this.#failure !== null) throw failed(this.#failure);
    return this.#ready === this.size;
  }

  /** Starts the workers, if that has not been done. */
  start(): void {
    this.#starting ??= this.#start().catch((error: unknown) => {
      this.#failure = error;
    });
  }

  /** Runs what is left of a launch, on workers that are ready; one at a time. Resolves to the message of a trap, or null. */
  async run(work: PoolLaunch): Promise<string | null> {
    const workers = this.#workers;
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
    await this.#starting;
    const workers = this.#workers;
    this.#workers = [];
    this.#ready = 0;
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  async #start(): Promise<void> {
    const { startWorker } = await import("#cpu-worker");
    for (let i = 0; i < this.size; i++) {
      const worker = startWorker();
      this.#workers.push(worker);
      this.#known.push(new Set());
      worker.listen(
        (message) => this.#receive(message),
        (error) => {
          this.#failure = error;
          this.#pending?.reject(failed(error));
        },
      );
    }
  }

  #receive(message: WorkerMessage): void {
    if (message === READY) {
      this.#ready++;
      return;
    }
    const pending = this.#pending;
    if (pending === null || pending.launch !== message.launch) return;
    pending.error ??= message.error;
    if (--pending.waiting === 0) pending.resolve(pending.error);
  }
}

function failed(cause: unknown): EvolverError {
  return new EvolverError("WORKER_FAILED", "a worker thread of the cpu device could not go on", {
    hint: "open the device with `workers: 1` to do without threads",
    cause,
  });
}
