/** Launches of a compiled kernel: arguments into memory, workgroups here or on the workers. */

import { EvolverError } from "@evolver/base";
import type { KernelIR, Params } from "@evolver/kernel";
import type { Launch, RunResult } from "../../core/device.ts";
import { writeWord } from "../../core/arrays.ts";
import { resolveLaunch, type ResolvedLaunch } from "../../core/launch.ts";
import { ARGUMENTS } from "../codegen/builtins.ts";
import { CpuBuffer } from "./buffer.ts";
import type { CompiledModule, CpuHost, CpuProgram } from "./host.ts";
import { instantiate, takeWorkgroups, type LaunchAddresses, type RunWorkgroups } from "./instance.ts";

/** After this time, what a launch has done says how long the rest will take. */
const FIRST_LOOK_MS = 0.25;
/** Workers are asked where more than this is left: they take a while to wake. */
const WORTH_WAKING_MS = 0.6;
/** The calling thread works in slices, between which it receives messages and its other tasks have their turn. */
const SLICE_MS = 4;

export class CompiledProgram<P extends Params> implements CpuProgram<P> {
  readonly ir: KernelIR;
  readonly notes: readonly string[] = [];
  readonly #device: CpuHost;
  readonly #compiled: CompiledModule;
  #run: RunWorkgroups | null = null;

  constructor(device: CpuHost, ir: KernelIR, compiled: CompiledModule) {
    this.ir = ir;
    this.#device = device;
    this.#compiled = compiled;
  }

  async run(launch: Launch<P>): Promise<RunResult> {
    const resolve = (): ResolvedLaunch<CpuBuffer> =>
      resolveLaunch(this.ir, launch as Launch, this.#device, CpuBuffer);
    resolve();
    return this.#device.enqueue(async () => {
      const resolved = resolve();
      const start = performance.now();
      if (resolved.workgroupCount > 0) await this.#launch(resolved);
      return { timeMs: performance.now() - start, counters: null, findings: [] };
    });
  }

  async #launch(resolved: ResolvedLaunch<CpuBuffer>): Promise<void> {
    const { memory, pool } = this.#device;
    const { argumentBytes, sharedBytes, contextBytes, module, id } = this.#compiled;
    const blocks: number[] = [];
    const allocate = (bytes: number): number => {
      const address = memory.allocate(bytes);
      blocks.push(address);
      return address;
    };
    try {
      const args = allocate(argumentBytes);
      this.#writeArguments(args, resolved);
      const counter = allocate(4);
      const addresses = (): LaunchAddresses => ({
        args,
        counter,
        shared: allocate(sharedBytes),
        context: allocate(contextBytes),
      });
      this.#run ??= instantiate(module, memory.memory);
      const run = this.#run;
      const workgroups = resolved.workgroupCount;
      const own = addresses();
      pool.begin();
      let trap: string | null = null;
      try {
        await work(workgroups, {
          take: (limitMs) =>
            takeWorkgroups(run, memory.memory, own, { workgroups, threads: pool.threads, limitMs }),
          ask: () => pool.ask({ program: id, module, addresses, workgroups }),
          starting: () => pool.starting,
        });
      } catch (error) {
        if (!(error instanceof WebAssembly.RuntimeError)) throw error;
        trap = error.message;
        // Workers stop at their next workgroup.
        Atomics.store(new Int32Array(memory.memory.buffer, counter, 1), 0, workgroups);
      }
      const theirs = await pool.end();
      trap ??= theirs;
      if (trap !== null) throw this.#trapped(trap);
    } finally {
      for (const address of blocks) memory.free(address);
    }
  }

  #writeArguments(address: number, resolved: ResolvedLaunch<CpuBuffer>): void {
    const view = new DataView(this.#device.memory.memory.buffer, address, this.#compiled.argumentBytes);
    resolved.workgroups.forEach((count, axis) =>
      view.setUint32(ARGUMENTS.numWorkgroups + 4 * axis, count, true),
    );
    this.ir.params.forEach((param, i) => {
      const at = ARGUMENTS.params + 4 * i;
      if (param.kind === "buffer")
        view.setUint32(at, (resolved.buffers[param.name] as CpuBuffer).address, true);
      else writeWord(view, at, param.type, resolved.scalars[param.name] as number);
    });
  }

  #trapped(message: string): EvolverError {
    return new EvolverError(
      "KERNEL_TRAP",
      `kernel "${this.ir.name}" was stopped on the cpu device: ${message}`,
      {
        where: [this.ir.site.location],
        hint: "run it on the sim device, which names the access that is wrong; buffers it wrote hold anything now",
      },
    );
  }
}

interface Work {
  /** Runs workgroups here for so long; gives how many nobody has taken yet. */
  take(limitMs: number): number;
  /** Asks the workers that are ready to take some too. */
  ask(): void;
  /** Whether messages are due that say that workers are ready. */
  starting(): boolean;
}

/** Runs workgroups here until none is left, with the workers' help where it pays. */
async function work(workgroups: number, { take, ask, starting }: Work): Promise<void> {
  const start = performance.now();
  let asked = false;
  let pauseAt = start + SLICE_MS;
  for (;;) {
    const left = take(asked ? SLICE_MS : FIRST_LOOK_MS);
    if (left === 0) return;
    const now = performance.now();
    // Alone so far, so all that is done was done here.
    asked ||= (left * (now - start)) / (workgroups - left) > WORTH_WAKING_MS;
    // Again in each slice: workers may have started meanwhile.
    if (asked) ask();
    if (now < pauseAt && !(asked && starting())) continue;
    await pause();
    pauseAt = performance.now() + SLICE_MS;
  }
}

/** Lets other tasks of this thread run. Timers would wait for a millisecond or more. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") {
      setImmediate(resolve);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
