/**
 * Launches captured from a stream as a graph of the driver's. Its functions are younger than the others that we need, so
 * a driver may lack them; then there are no graphs. Node only.
 */

import type { LibraryHandle } from "koffi";
import type { LaunchGraph } from "../../core/device.ts";
import { bind, type GpuDriver, type Handle } from "./driver.ts";

/** In koffi's C-like form without the name, as in driver.ts. */
const SIGNATURES = {
  beginCapture: "(uint64_t stream, int mode)",
  endCapture: "(uint64_t stream, void *graph)",
  instantiate: "(void *executable, uint64_t graph, uint64_t flags)",
  launch: "(uint64_t executable, uint64_t stream)",
  destroyGraph: "(uint64_t graph)",
  destroyExecutable: "(uint64_t executable)",
} as const;

export type GraphCallName = keyof typeof SIGNATURES;
export type GraphCalls = Readonly<Record<GraphCallName, (...args: unknown[]) => number>>;

/** Calls of this thread that would disturb a capture fail; other threads may do as they like. The same for both vendors. */
const CAPTURE_THREAD_LOCAL = 1;

/** The functions of graphs in a library, under a vendor's names; null where it lacks one. */
export function bindGraphCalls(
  library: LibraryHandle,
  names: Readonly<Record<GraphCallName, string>>,
): GraphCalls | null {
  const missing = (name: string, cause: unknown): Error => new Error(`no ${name}`, { cause });
  try {
    const bound = Object.entries(SIGNATURES).map(([call, parameters]) => [
      call,
      bind(library, `int ${names[call as GraphCallName]}${parameters}`, missing),
    ]);
    return Object.fromEntries(bound) as GraphCalls;
  } catch {
    return null;
  }
}

/**
 * Records what `enqueue` puts on the stream. The driver copies the launches' arguments, but the buffers that they point
 * to have to stay.
 *
 * @throws EvolverError where the driver refuses, and what `enqueue` throws; the stream is no longer capturing then
 */
export function captureGraph(
  driver: GpuDriver,
  calls: GraphCalls,
  stream: Handle,
  enqueue: () => void,
): LaunchGraph {
  driver.check(calls.beginCapture(stream, CAPTURE_THREAD_LOCAL), "beginning a graph");
  const slot = new BigUint64Array(1);
  try {
    enqueue();
  } catch (error) {
    if (calls.endCapture(stream, slot) === 0 && slot[0] !== 0n) calls.destroyGraph(slot[0]);
    throw error;
  }
  driver.check(calls.endCapture(stream, slot), "ending a graph");
  const graph = slot[0] as Handle;
  let executable: Handle;
  try {
    executable = driver.out64((out) => calls.instantiate(out, graph, 0n), "making a graph ready");
  } finally {
    calls.destroyGraph(graph);
  }
  let destroyed = false;
  return {
    enqueue: () => driver.check(calls.launch(executable, stream), "launching a graph"),
    destroy() {
      if (!destroyed && driver.lost === null) calls.destroyExecutable(executable);
      destroyed = true;
    },
  };
}
