/** The buffers that a kernel keeps for itself from launch to launch. */

import type { Device, DeviceBuffer } from "@evolver/device";
import type { ScratchBuffer } from "./schedule/schedule.ts";

export type Scratch = { readonly [K in ScratchBuffer["name"]]?: DeviceBuffer<"u32"> };

/**
 * Makes a plan's buffers, zeroed as its kernel wants them, by the names of its parameters. One launch after another
 * may use them, two at a time may not. To be destroyed by the caller.
 */
export function createScratch(
  device: Device,
  { scratch }: { readonly scratch: readonly ScratchBuffer[] },
): Scratch {
  return Object.fromEntries(
    scratch.map(({ name, element, length }) => [name, device.createBuffer(element, length)]),
  );
}
