/** Launches captured from a stream as a graph of the driver's. Node only. */

import type { LaunchGraph } from "../../core/device.ts";
import type { GraphCalls } from "./calls.ts";
import type { GpuDriver, Handle } from "./driver.ts";

/** Calls of this thread that would disturb a capture fail; other threads are not affected. The same for both vendors. */
const CAPTURE_THREAD_LOCAL = 1;

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
