/** The protocol between the pool and its workers, and what a worker does. Free of Node and browser specifics. */

import type { instantiate, LaunchAddresses, RunWorkgroups, takeWorkgroups } from "./instance.ts";

/**
 * A word in the device's memory for each worker says how far it is with a launch: 0 when it has nothing to do with any, else
 * four times the launch's number and one of these. Both sides change it by atomic operations, so that a launch never waits
 * for a worker that has not begun.
 */
export const STAGE = {
  /** The caller has asked, and may take it back. */
  asked: 0,
  /** The worker takes workgroups. */
  joined: 1,
  /** It does, and the caller awaits a message at the end of it. */
  awaited: 2,
  /** It met an error; the message says which. */
  failed: 3,
} as const;

/** Above this, numbers of launches begin at 1 again: the word is a signed integer. */
export const LAST_LAUNCH = 2 ** 28;

export interface WorkerRequest {
  readonly launch: number;
  readonly program: number;
  /** Sent with a program's first launch on this worker. */
  readonly module: WebAssembly.Module | null;
  readonly memory: WebAssembly.Memory;
  readonly addresses: LaunchAddresses;
  /** Address of the worker's word. */
  readonly stage: number;
  readonly workgroups: number;
  readonly threads: number;
}

export interface WorkerReply {
  readonly launch: number;
  /** The message of the trap that ended the launch, if one did. */
  readonly error: string | null;
}

/** What a worker says once, when it can take requests. */
export const READY = "ready";

export type WorkerMessage = WorkerReply | typeof READY;

/** A worker as the pool sees it. */
export interface WorkerHandle {
  post(request: WorkerRequest): void;
  /** Messages, or the error that ended the worker. */
  listen(onMessage: (message: WorkerMessage) => void, onFailure: (error: unknown) => void): void;
  /** Whether the worker keeps the process alive. */
  hold(held: boolean): void;
  terminate(): Promise<void>;
}

/** What a worker needs, from the platform and from instance.ts. */
export interface WorkerParts {
  reply(message: WorkerReply): void;
  readonly instantiate: typeof instantiate;
  readonly takeWorkgroups: typeof takeWorkgroups;
}

/** Answers requests. Like the functions of instance.ts, it names nothing outside itself but globals. */
export function createServer({
  reply,
  instantiate,
  takeWorkgroups,
}: WorkerParts): (request: WorkerRequest) => void {
  const modules = new Map<number, WebAssembly.Module>();
  const programs = new Map<number, RunWorkgroups>();
  return ({ launch, program, module, memory, addresses, stage, workgroups, threads }) => {
    if (module !== null) modules.set(program, module);
    const word = new Int32Array(memory.buffer, stage, 1);
    const asked = 4 * launch;
    const [joined, awaited, failed] = [asked + 1, asked + 2, asked + 3] as const;
    // The others may have done all of it by now.
    if (Atomics.compareExchange(word, 0, asked, joined) !== asked) return;
    try {
      const run = programs.get(program) ?? instantiate(modules.get(program) as WebAssembly.Module, memory);
      programs.set(program, run);
      takeWorkgroups(run, memory, addresses, { workgroups, threads, limitMs: Infinity });
    } catch (error) {
      // Others stop at their next workgroup.
      Atomics.store(new Int32Array(memory.buffer, addresses.counter, 1), 0, workgroups);
      Atomics.store(word, 0, failed);
      reply({ launch, error: error instanceof Error ? error.message : String(error) });
      return;
    }
    if (Atomics.exchange(word, 0, 0) === awaited) reply({ launch, error: null });
  };
}
