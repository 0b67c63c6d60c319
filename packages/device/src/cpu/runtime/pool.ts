/**
 * The worker threads of a device. They help the thread that launches: that one works as well, asks them for help where
 * enough work is left, and waits at the end only for those that came.
 */

import { EvolverError } from "@evolver/base";
import type { LaunchAddresses } from "./instance.ts";
import type { DeviceMemory } from "./memory.ts";
import { LAST_LAUNCH, READY, STAGE, type WorkerHandle, type WorkerMessage } from "./worker.ts";

export interface PoolLaunch {
  readonly program: number;
  readonly module: WebAssembly.Module;
  /** Finds place for one more thread. */
  readonly addresses: () => LaunchAddresses;
  readonly workgroups: number;
}

/** The caller's thread looks for so long whether a worker is done, then it waits for a message, which takes longer to come. */
const LOOK_MS = 0.2;

type End = string | null | EvolverError;

interface Ending {
  readonly promise: Promise<End>;
  readonly resolve: (end: End) => void;
}

/** What Promise.withResolvers is in Node 22. */
function newEnding(): Ending {
  let resolve: Ending["resolve"] = () => {};
  const promise = new Promise<End>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

interface Helper {
  readonly worker: WorkerHandle;
  /** Address of its word, see STAGE. */
  readonly stage: number;
  /** Programs that it has. */
  readonly known: Set<number>;
  ready: boolean;
  /** The launch that it was last asked to help with. */
  launch: number;
  /** How that launch ended, where a message tells of it: the message of a trap, null, or why the worker could not go on. */
  ended: Ending;
}

export class WorkerPool {
  /** Threads that work on a launch: the workers and the caller's. */
  readonly threads: number;
  readonly #memory: DeviceMemory;
  readonly #helpers: Helper[] = [];
  #starting: Promise<void> | null = null;
  #failure: unknown = null;
  #ready = 0;
  #launch = 0;

  constructor(threads: number, memory: DeviceMemory) {
    this.threads = threads;
    this.#memory = memory;
  }

  /** Whether workers have been started that are not ready yet. */
  get starting(): boolean {
    return this.#failure === null && this.#ready < this.threads - 1;
  }

  /** Starts the workers, if that has not been done. */
  start(): void {
    this.#starting ??= this.#start().catch((error: unknown) => {
      this.#failure = error;
    });
  }

  /** Begins a launch; one at a time. */
  begin(): void {
    this.#launch = (this.#launch % LAST_LAUNCH) + 1;
  }

  /** Asks all workers that are ready and have not been asked yet; throws WORKER_FAILED if one could not go on. */
  ask({ program, module, addresses, workgroups }: PoolLaunch): void {
    if (this.#failure !== null) throw failed(this.#failure);
    const launch = this.#launch;
    const { memory } = this.#memory;
    for (const helper of this.#helpers) {
      if (!helper.ready || helper.launch === launch) continue;
      const { worker, stage, known } = helper;
      helper.launch = launch;
      helper.ended = newEnding();
      Atomics.store(this.#word(helper), 0, 4 * launch + STAGE.asked);
      worker.post({
        launch,
        program,
        module: known.has(program) ? null : module,
        memory,
        addresses: addresses(),
        stage,
        workgroups,
        threads: this.threads,
      });
      known.add(program);
    }
  }

  /** Waits for the workers that take part in the launch. Resolves to the message of a trap, or null. */
  async end(): Promise<string | null> {
    let trap: string | null = null;
    for (const helper of this.#helpers) {
      if (helper.launch !== this.#launch) continue;
      const error = await this.#end(helper);
      trap ??= error;
    }
    return trap;
  }

  async close(): Promise<void> {
    await this.#starting;
    await Promise.all(this.#helpers.splice(0).map(({ worker }) => worker.terminate()));
  }

  async #end(helper: Helper): Promise<string | null> {
    const word = this.#word(helper);
    const launch = 4 * this.#launch;
    const [asked, joined, awaited] = [launch + STAGE.asked, launch + STAGE.joined, launch + STAGE.awaited];
    if (Atomics.compareExchange(word, 0, asked, 0) === asked) return null;
    const until = performance.now() + LOOK_MS;
    while (Atomics.load(word, 0) === joined && performance.now() < until);
    if (Atomics.compareExchange(word, 0, joined, awaited) === 0) return null;
    helper.worker.hold(true);
    try {
      const end = await helper.ended.promise;
      if (end instanceof EvolverError) throw end;
      return end;
    } finally {
      helper.worker.hold(false);
    }
  }

  #word({ stage }: Helper): Int32Array {
    return new Int32Array(this.#memory.memory.buffer, stage, 1);
  }

  async #start(): Promise<void> {
    const { startWorker } = await import("#cpu-worker");
    for (let i = 1; i < this.threads; i++) {
      const worker = startWorker();
      const helper: Helper = {
        worker,
        stage: this.#memory.allocate(4),
        known: new Set(),
        ready: false,
        launch: 0,
        ended: newEnding(),
      };
      this.#helpers.push(helper);
      worker.listen(
        (message) => this.#receive(helper, message),
        (error) => {
          this.#failure = error;
          helper.ended.resolve(failed(error));
        },
      );
    }
  }

  #receive(helper: Helper, message: WorkerMessage): void {
    if (message === READY) {
      helper.ready = true;
      this.#ready++;
    } else if (message.launch === helper.launch) {
      helper.ended.resolve(message.error);
    }
  }
}

function failed(cause: unknown): EvolverError {
  return new EvolverError("WORKER_FAILED", "a worker thread of the cpu device could not go on", {
    hint: "open the device with `workers: 1` to do without threads",
    cause,
  });
}
