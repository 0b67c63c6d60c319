/**
 * The `sim` device: runs kernels exactly, lane by lane and subgroup by subgroup, finds mistakes in them and counts what they
 * do. Other devices are tested against it; it is not a model of any card's speed.
 */

import type { ElementType, Kernel, KernelIR, Params } from "@evolver/kernel";
import { buildFor } from "../core/build.ts";
import type { Device, DeviceLimits, TypedArrayOf } from "../core/device.ts";
import { createHostBuffer } from "../core/buffer.ts";
import type { HostBuffer } from "../core/buffer.ts";
import { deviceRows } from "../core/device-rows.ts";
import { resolveOptions, simLimits } from "./options.ts";
import type { ResolvedSimOptions, SimOptions } from "./options.ts";
import { SimProgram } from "./program.ts";
import { SimState } from "./state.ts";

/** The simulator. Its programs also give the code that they run: `source()`. */
export class SimDevice implements Device {
  readonly id = "sim";
  readonly name: string;
  readonly subgroupSize: number;
  readonly forwardProgress: boolean = deviceRows.sim.forwardProgress;
  readonly limits: DeviceLimits = simLimits;
  readonly #state: SimState;
  #closed = false;

  constructor(options: SimOptions) {
    this.#state = new SimState(resolveOptions(options));
    this.subgroupSize = this.options.subgroup;
    this.name = `simulator with subgroups of ${this.subgroupSize}`;
  }

  get options(): ResolvedSimOptions {
    return this.#state.options;
  }

  /** Instructions that subgroups have executed at memory and in operations of a subgroup, over all launches. */
  get instructions(): number {
    return this.#state.time.instruction;
  }

  get closed(): boolean {
    return this.#closed;
  }

  createBuffer<E extends ElementType>(element: E, contents: number | TypedArrayOf<E>): HostBuffer<E> {
    return createHostBuffer(this, element, contents);
  }

  async compile<P extends Params>(kernel: Kernel<P> | KernelIR): Promise<SimProgram<P>> {
    return new SimProgram<P>(this, this.#state, buildFor(kernel, this, this.subgroupSize));
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}

/**
 * Opens a simulator. Throws INVALID_OPTION. Kernels become JavaScript by `new Function`, which a page's content security
 * policy must allow ('unsafe-eval').
 */
export function openSim(options: SimOptions = {}): SimDevice {
  return new SimDevice(options);
}
