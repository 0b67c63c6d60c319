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

/** A launch begins on the calling thread. After this time it is known how long the rest will take. */
const INLINE_MS = 0.4;
/** Work up to this time stays on the calling thread, since workers take a while to wake; longer work goes to the workers. */
const WORTH_WAKING_MS = 1;
/** While the workers start, the calling thread works in slices, between which it receives their messages. */
const SLICE_MS = 4;

const pause = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 0);
  });

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
      const workgroups = resolved.workgroupCount;
      const own = addresses();
      const run = this.#run;
      const take = (limitMs: number): number =>
        takeWorkgroups(run, memory.memory, own, { workgroups, threads: pool.size, limitMs });
      let trap: string | null = null;
      try {
        if (this.#takeFirst(take, workgroups)) return;
        pool.start();
        while (!pool.ready) {
          await pause();
          if (take(SLICE_MS) === 0) return;
        }
      } catch (error) {
        if (!(error instanceof WebAssembly.RuntimeError)) throw error;
        trap = error.message;
      }
      trap ??= await pool.run({
        program: id,
        module,
        memory: memory.memory,
        addresses: Array.from({ length: pool.size }, addresses),
        workgroups,
      });
      if (trap !== null) throw this.#trapped(trap);
    } finally {
      for (const address of blocks) memory.free(address);
    }
  }

  /** Runs workgroups here for as long as it does not pay to ask the workers; says whether none is left. */
  #takeFirst(take: (limitMs: number) => number, workgroups: number): boolean {
    if (this.#device.pool.size === 1) return take(Infinity) === 0;
    const start = performance.now();
    const left = take(INLINE_MS);
    const msLeft = (left * (performance.now() - start)) / (workgroups - left);
    // Workgroups need not be alike, so what should end soon is watched too.
    return left === 0 || (msLeft <= WORTH_WAKING_MS && take(2 * WORTH_WAKING_MS) === 0);
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
