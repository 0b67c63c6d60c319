/**
 * The `sim` device: runs kernels exactly, lane by lane and subgroup by subgroup, finds what is wrong with them and
 * counts what they do. It is the oracle that other devices are tested against, not a model of any card's speed.
 */

import { EvolverError } from "@evolver/base";
import type { ElementType, Kernel, KernelIR, Params } from "@evolver/kernel";
import type { Device, DeviceLimits, Program, TypedArrayOf } from "../core/device.ts";
import { buildFor } from "../core/build.ts";
import { createHostBuffer } from "../core/buffer.ts";
import type { HostBuffer } from "../core/buffer.ts";
import { deviceRows } from "../core/rows.ts";
import { SimProgram } from "./program.ts";
import { Storage } from "./storage.ts";

export { SimulationError, formatFinding } from "./error.ts";

export interface SimOptions {
  /** Subgroup width that kernels are built for: 4, 8, 16, 32 (default), 64 or 128. */
  readonly subgroup?: number;
  /** Permutes the order of subgroups, and stops them at more places; the same seed gives the same run. */
  readonly seed?: number;
  /** Look for races and the other findings (default). Accesses outside memory are skipped in any case. */
  readonly checks?: boolean;
  /** Count (default). */
  readonly counters?: boolean;
  /** Whether a launch with findings throws a SimulationError (default) or returns them. */
  readonly onFinding?: "throw" | "collect";
  /** At most so many different findings are kept; 100 by default. */
  readonly maxFindings?: number;
  /** Loop iterations of a subgroup in one workgroup after which it counts as endless; 100 million by default. */
  readonly maxSteps?: number;
}

export type ResolvedSimOptions = Required<Omit<SimOptions, "seed">> & Pick<SimOptions, "seed">;

const LIMITS: DeviceLimits = Object.freeze({
  subgroupSizes: Object.freeze([4, 8, 16, 32, 64, 128]),
  maxInvocationsPerWorkgroup: 1024,
  maxSharedBytes: 232_448,
  maxBufferBytes: 2 ** 32,
  maxWorkgroups: 2 ** 31 - 1,
});

/** Times are 32-bit numbers; they start anew long before they run out. */
const RENEW_TIME = 2 ** 30;

export class SimDevice implements Device {
  readonly id = "sim";
  readonly name: string;
  readonly subgroupSize: number;
  readonly forwardProgress = deviceRows.sim.forwardProgress;
  readonly limits = LIMITS;
  readonly options: ResolvedSimOptions;
  /** The clock and the serial number of generated code (memory.ts), over all launches. */
  time = 1;
  serial = 0;
  #closed = false;
  #generation = 0;
  readonly #storages = new WeakMap<HostBuffer, Storage>();

  constructor(options: SimOptions) {
    this.options = resolveOptions(options);
    this.subgroupSize = this.options.subgroup;
    this.name = `simulator with subgroups of ${this.subgroupSize}`;
  }

  get closed(): boolean {
    return this.#closed;
  }

  createBuffer<E extends ElementType>(element: E, contents: number | TypedArrayOf<E>): HostBuffer<E> {
    return createHostBuffer(this, element, contents);
  }

  async compile<P extends Params>(kernel: Kernel<P> | KernelIR): Promise<Program<P>> {
    return new SimProgram<P>(this, buildFor(kernel, this, this.subgroupSize));
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  /** The one storage of a buffer. */
  storageOf(buffer: HostBuffer): Storage {
    let storage = this.#storages.get(buffer);
    if (storage === undefined) this.#storages.set(buffer, (storage = new Storage(buffer.array)));
    return storage;
  }

  /** Called between launches. */
  renewTime(): void {
    if (this.time < RENEW_TIME) return;
    this.time = 1;
    this.#generation++;
  }

  /** Drops marks of an older time. */
  refresh(storage: Storage): void {
    if (storage.generation === this.#generation) return;
    storage.forget();
    storage.generation = this.#generation;
  }
}

/**
 * Opens a simulator. Throws INVALID_OPTION. Kernels become JavaScript by `new Function`, which a page's content security
 * policy must allow ('unsafe-eval').
 */
export function openSim(options: SimOptions = {}): SimDevice {
  return new SimDevice(options);
}

function resolveOptions(options: SimOptions): ResolvedSimOptions {
  const { subgroup = 32, seed, checks = true, counters = true, onFinding = "throw" } = options;
  const { maxFindings = 100, maxSteps = 100_000_000 } = options;
  const check = (holds: boolean, what: string, hint: string): void => {
    if (!holds) throw new EvolverError("INVALID_OPTION", what, { hint });
  };
  check(
    LIMITS.subgroupSizes.includes(subgroup),
    `sim has no subgroups of ${subgroup}`,
    `use one of ${LIMITS.subgroupSizes.join(", ")}`,
  );
  check(
    seed === undefined || Number.isSafeInteger(seed),
    `a seed is a whole number, not ${seed}`,
    "or leave it out for a fixed order",
  );
  check(
    onFinding === "throw" || onFinding === "collect",
    `onFinding is not ${String(onFinding)}`,
    'use "throw" or "collect"',
  );
  check(
    Number.isInteger(maxFindings) && maxFindings > 0,
    `maxFindings is a positive whole number, not ${maxFindings}`,
    "100 is the default",
  );
  check(
    Number.isInteger(maxSteps) && maxSteps > 0,
    `maxSteps is a positive whole number, not ${maxSteps}`,
    "100 million is the default",
  );
  return {
    subgroup,
    checks,
    counters,
    onFinding,
    maxFindings,
    maxSteps,
    ...(seed === undefined ? {} : { seed }),
  };
}
