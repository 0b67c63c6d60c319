/**
 * What NVIDIA's and AMD's drivers have in common, as seen through koffi: calls with the same arguments under other
 * names, the same numbers for the errors that matter, and the rule that some errors end everything. Node only.
 */

import { EvolverError } from "@evolver/base";
import type { LibraryHandle } from "koffi";
import koffi from "koffi";
import type { GraphCalls } from "./graph.ts";

/** A handle or device pointer of the driver, as an address. */
export type Handle = bigint;

/** A foreign function; most give an error code. */
export type ForeignFunction = (...args: unknown[]) => unknown;

/** The calls that every driver has, in koffi's C-like form without the name; pointers and handles are 64-bit addresses. */
const SIGNATURES = {
  memGetInfo: "(void *free, void *total)",
  memAlloc: "(void *pointer, size_t bytes)",
  memFree: "(uint64_t pointer)",
  memcpyHtoD: "(uint64_t destination, const void *source, size_t bytes)",
  memcpyDtoH: "(void *destination, uint64_t source, size_t bytes)",
  memsetD32: "(uint64_t pointer, unsigned int value, size_t count)",
  moduleLoadData: "(void *module, const void *image)",
  moduleGetFunction: "(void *function, uint64_t module, const char *name)",
  launchKernel:
    "(uint64_t function, unsigned int gridX, unsigned int gridY, unsigned int gridZ, unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes, uint64_t stream, uint64_t params, uint64_t extra)",
  streamCreate: "(void *stream, unsigned int flags)",
  streamQuery: "(uint64_t stream)",
  streamDestroy: "(uint64_t stream)",
  eventCreate: "(void *event, unsigned int flags)",
  eventRecord: "(uint64_t event, uint64_t stream)",
  eventElapsedTime: "(void *milliseconds, uint64_t start, uint64_t end)",
  eventDestroy: "(uint64_t event)",
} as const;

export type GpuCallName = keyof typeof SIGNATURES;
export type GpuCalls = Readonly<Record<GpuCallName, (...args: unknown[]) => number>>;

/** Error codes that are the same for both vendors. */
export const GPU_ERROR = Object.freeze({ success: 0, outOfMemory: 2, noDevice: 100, notReady: 600 });

/** Non-blocking streams, events with times: the flags are the same too. */
export const STREAM_NON_BLOCKING = 1;
export const EVENT_DEFAULT = 0;

/**
 * Finds the common calls in a library under a vendor's names.
 * @param missing makes the error for a function that the library lacks
 */
export function bindCalls(
  library: LibraryHandle,
  names: Readonly<Record<GpuCallName, string>>,
  missing: (name: string, cause: unknown) => Error,
): GpuCalls {
  const bound = Object.entries(SIGNATURES).map(([call, parameters]) => {
    const name = names[call as GpuCallName];
    return [call, bind(library, `int ${name}${parameters}`, missing)];
  });
  return Object.fromEntries(bound) as GpuCalls;
}

/** One function of a library. */
export function bind(
  library: LibraryHandle,
  signature: string,
  missing: (name: string, cause: unknown) => Error,
): ForeignFunction {
  try {
    return library.func(signature) as ForeignFunction;
  } catch (error) {
    throw missing(/(\w+)\s*\(/.exec(signature)?.[1] ?? signature, error);
  }
}

/** The first library that loads, or the last loader's error. */
export function loadFirst(candidates: readonly string[]): LibraryHandle | { readonly error: unknown } {
  let error: unknown;
  for (const candidate of candidates) {
    try {
      return koffi.load(candidate);
    } catch (reason) {
      error = reason;
    }
  }
  return { error };
}

export interface GpuDriverOptions {
  readonly id: "cuda" | "hip";
  readonly calls: GpuCalls;
  /** Null where the driver is too old for graphs. */
  readonly graphCalls: GraphCalls | null;
  /** Errors after which the context can do nothing more. */
  readonly sticky: ReadonlySet<number>;
  /** "CUDA_ERROR_INVALID_VALUE (invalid argument)". */
  errorText(code: number): string;
}

export class GpuDriver {
  readonly id: "cuda" | "hip";
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
