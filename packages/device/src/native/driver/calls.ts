/**
 * The functions of a vendor's library, found through koffi: NVIDIA's and AMD's have the same arguments under other names.
 * driver.ts interprets their results. Node only.
 */

import type { LibraryHandle } from "koffi";
import koffi from "koffi";

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

/** Those of graphs, which are younger: a driver may lack them. */
const GRAPH_SIGNATURES = {
  beginCapture: "(uint64_t stream, int mode)",
  endCapture: "(uint64_t stream, void *graph)",
  instantiate: "(void *executable, uint64_t graph, uint64_t flags)",
  launch: "(uint64_t executable, uint64_t stream)",
  destroyGraph: "(uint64_t graph)",
  destroyExecutable: "(uint64_t executable)",
} as const;

export type GraphCallName = keyof typeof GRAPH_SIGNATURES;
export type GraphCalls = Readonly<Record<GraphCallName, (...args: unknown[]) => number>>;

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

/** The functions of graphs in a library, under a vendor's names; null where it lacks one. */
export function bindGraphCalls(
  library: LibraryHandle,
  names: Readonly<Record<GraphCallName, string>>,
): GraphCalls | null {
  const missing = (name: string, cause: unknown): Error => new Error(`no ${name}`, { cause });
  try {
    const bound = Object.entries(GRAPH_SIGNATURES).map(([call, parameters]) => [
      call,
      bind(library, `int ${names[call as GraphCallName]}${parameters}`, missing),
    ]);
    return Object.fromEntries(bound) as GraphCalls;
  } catch {
    return null;
  }
}
