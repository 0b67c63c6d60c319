/**
 * Kernels whose subgroups wait for each other. They need subgroups that take turns, which compiled code does not give
 * (see forward-progress.ts), so the simulator's engine runs them, without its checks.
 */

import type { Args, ElementType, KernelIR, Params } from "@evolver/kernel";
import type { Device, DeviceBuffer, Launch, Program, RunResult } from "../../core/device.ts";
import { resolveLaunch } from "../../core/launch.ts";
import { CpuBuffer } from "./buffer.ts";
import type { CpuHost, CpuProgram } from "./host.ts";

export class SimulatedProgram<P extends Params> implements CpuProgram<P> {
  readonly ir: KernelIR;
  readonly notes: readonly string[];
  readonly #device: CpuHost;
  #simulator: Promise<{ sim: Device; program: Program }> | null = null;

  constructor(device: CpuHost, ir: KernelIR, reason: string) {
    this.ir = ir;
    this.notes = [`runs on the simulator's engine, slowly: the kernel has ${reason}`];
    this.#device = device;
  }

  async run(launch: Launch<P>): Promise<RunResult> {
    const resolve = () => resolveLaunch(this.ir, launch as Launch, this.#device, CpuBuffer);
    resolve();
    return this.#device.enqueue(async () => {
      const { buffers, scalars, workgroups } = resolve();
      const { sim, program } = await (this.#simulator ??= this.#open());
      // One buffer passed for two parameters stays one.
      const copies = new Map<CpuBuffer, DeviceBuffer<ElementType>>();
      const args: Record<string, unknown> = Object.assign(Object.create(null), scalars);
      for (const [name, buffer] of Object.entries(buffers)) {
        const copy = copies.get(buffer) ?? sim.createBuffer(buffer.element, buffer.array);
        copies.set(buffer, copy);
        args[name] = copy;
      }
      const start = performance.now();
      try {
        await program.run({ workgroups, args: args as Args<Params> });
        const timeMs = performance.now() - start;
        for (const [buffer, copy] of copies) buffer.array.set(await copy.read());
        return { timeMs, counters: null, findings: [] };
      } finally {
        for (const copy of copies.values()) copy.destroy();
      }
    });
  }

  async #open(): Promise<{ sim: Device; program: Program }> {
    const { openSim } = await import("../../sim/index.ts");
    const sim = openSim({ subgroup: this.ir.subgroupSize, checks: false, counters: false });
    return { sim, program: await sim.compile(this.ir) };
  }
}
