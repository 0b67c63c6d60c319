/** In a browser there is WebGPU, and no way to a vendor's driver. */

import { EvolverError } from "@evolver/base";
import type { NativeDeviceId } from "../core/device-rows.ts";
import type { Device } from "../core/device.ts";
import { openWebgpu } from "../webgpu/device.ts";

export async function openNative(id: NativeDeviceId, options: object): Promise<Device> {
  if (id === "webgpu") return openWebgpu(options);
  throw new EvolverError("DEVICE_UNAVAILABLE", `${id} does not exist in a browser`, {
    hint: 'use openDevice("webgpu"), or run under Node',
  });
}
