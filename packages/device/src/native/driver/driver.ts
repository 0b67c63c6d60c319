/**
 * What NVIDIA's and AMD's drivers have in common beyond their calls: the same numbers for the errors that matter, and the
 * rule that some errors end everything. Node only.
 */

import { EvolverError } from "@evolver/base";
import type { DriverDeviceId } from "../../core/device-rows.ts";
import type { GpuCalls, GraphCalls } from "./calls.ts";

/** A handle or device pointer of the driver, as an address. */
export type Handle = bigint;

/** Error codes that are the same for both vendors. */
export const GPU_ERROR = Object.freeze({ success: 0, outOfMemory: 2, noDevice: 100, notReady: 600 });

/** Non-blocking streams, events with times: the flags are the same too. */
export const STREAM_NON_BLOCKING = 1;
export const EVENT_DEFAULT = 0;

export interface GpuDriverOptions {
  readonly id: DriverDeviceId;
  readonly calls: GpuCalls;
  /** Null where the driver is too old for graphs. */
  readonly graphCalls: GraphCalls | null;
  /** Errors after which the context can do nothing more. */
  readonly sticky: ReadonlySet<number>;
  /** "CUDA_ERROR_INVALID_VALUE (invalid argument)". */
  errorText(code: number): string;
}

export class GpuDriver {
  readonly id: DriverDeviceId;
  readonly call: GpuCalls;
  readonly graphCalls: GraphCalls | null;
  readonly #options: GpuDriverOptions;
  #lost: string | null = null;

  constructor(options: GpuDriverOptions) {
    this.id = options.id;
    this.call = options.calls;
    this.graphCalls = options.graphCalls;
    this.#options = options;
  }

  /** Why the context is lost, or null. */
  get lost(): string | null {
    return this.#lost;
  }

  errorText(code: number): string {
    return this.#options.errorText(code);
  }

  /** Throws unless a call succeeded. Sticky errors mark the context as lost; later calls then fail at once. */
  check(code: number, doing: string): void {
    if (code === GPU_ERROR.success) return;
    const text = this.errorText(code);
    if (this.#options.sticky.has(code)) {
      this.#lost = `${doing}: ${text}`;
      throw new EvolverError("DEVICE_LOST", `the ${this.id} device failed while ${doing}: ${text}`, {
        hint: `run the kernel on \`sim\`, which names the line; this process cannot use ${this.id.toUpperCase()} any more, start another`,
      });
    }
    if (code === GPU_ERROR.outOfMemory) {
      throw new EvolverError("OUT_OF_DEVICE_MEMORY", `the GPU has no room left for ${doing}`, {
        hint: "free buffers with destroy(), close other programs on the GPU, or use smaller shapes",
      });
    }
    throw new EvolverError(`${this.id.toUpperCase()}_ERROR`, `${doing} failed: ${text}`);
  }

  /** Throws DEVICE_LOST after a sticky error. */
  assertUsable(): void {
    if (this.#lost === null) return;
    throw new EvolverError("DEVICE_LOST", `the ${this.id} device was lost earlier (${this.#lost})`, {
      hint: "start another process; buffers of this one cannot be read any more",
    });
  }

  /** A 64-bit out-parameter. */
  out64(fill: (slot: BigUint64Array) => number, doing: string): bigint {
    const slot = new BigUint64Array(1);
    this.check(fill(slot), doing);
    return slot[0] as bigint;
  }

  /** A 32-bit out-parameter. */
  out32(fill: (slot: Int32Array) => number, doing: string): number {
    const slot = new Int32Array(1);
    this.check(fill(slot), doing);
    return slot[0] as number;
  }
}
