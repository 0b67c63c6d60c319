/** The protocol between the pool and its workers, and what a worker does. Free of Node and browser specifics. */

import { instantiate, takeWorkgroups, type LaunchAddresses, type RunWorkgroups } from "./instance.ts";

export interface WorkerRequest {
  readonly launch: number;
  readonly program: number;
  /** Sent with a program's first launch on this worker. */
  readonly module: WebAssembly.Module | null;
  readonly memory: WebAssembly.Memory;
  readonly addresses: LaunchAddresses;
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

/** Answers requests: for the files that workers start with. */
export function createServer(): (request: WorkerRequest) => WorkerReply {
  const programs = new Map<number, RunWorkgroups>();
  return (request) => {
    const { launch, program, module, memory, addresses, workgroups, threads } = request;
    try {
      if (module !== null) programs.set(program, instantiate(module, memory));
      const run = programs.get(program) as RunWorkgroups;
      takeWorkgroups(run, memory, addresses, { workgroups, threads, limitMs: Infinity });
      return { launch, error: null };
    } catch (error) {
      // Others stop at their next workgroup.
      Atomics.store(new Int32Array(memory.buffer, addresses.counter, 1), 0, workgroups);
      return { launch, error: error instanceof Error ? error.message : String(error) };
    }
  };
}
