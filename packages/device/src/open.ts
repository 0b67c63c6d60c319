/** Opens devices by name, and lists which ones run here and what is missing for the others. */

import { EvolverError } from "@evolver/base";
import { openNative } from "#native-devices";
import type { CpuOptions } from "./cpu/index.ts";
import type { Device, DeviceId, DeviceLimits } from "./core/device.ts";
import { deviceIds, isDeviceId } from "./core/device-rows.ts";
import type { SimOptions } from "./sim/index.ts";
import type { NativeOptions } from "./core/native-options.ts";
import type { WebgpuOptions } from "./webgpu/options.ts";

/** What `openDevice` takes for each device. */
export interface DeviceOptions {
  readonly sim: SimOptions;
  readonly cpu: CpuOptions;
  readonly webgpu: WebgpuOptions;
  readonly cuda: NativeOptions;
  readonly hip: NativeOptions;
}

/** One line of `listDevices()`. */
export interface DeviceEntry {
  readonly id: DeviceId;
  readonly available: boolean;
  /** Why it is not available and what to do about it, in one line; null where it is. */
  readonly why: string | null;
  /** For people; null where it is not available, as are the next two. */
  readonly name: string | null;
  readonly subgroup: number | null;
  readonly limits: DeviceLimits | null;
}

/** Each is loaded when it is asked for: a page that runs on WebGPU downloads neither the simulator nor the compiler of `cpu`. */
const openers: { readonly [I in DeviceId]: (options: DeviceOptions[I]) => Promise<Device> } = {
  sim: async (options) => (await import("./sim/index.ts")).openSim(options),
  cpu: async (options) => (await import("./cpu/index.ts")).openCpu(options),
  webgpu: (options) => openNative("webgpu", options),
  cuda: (options) => openNative("cuda", options),
  hip: (options) => openNative("hip", options),
};

/**
 * Opens a device. Throws UNKNOWN_DEVICE for a name that is none; WEBGPU_UNAVAILABLE, CUDA_UNAVAILABLE, HIP_UNAVAILABLE or
 * DEVICE_UNAVAILABLE where the device is not here, with what to do about it; INVALID_OPTION.
 */
export async function openDevice<I extends DeviceId>(id: I, options?: DeviceOptions[I]): Promise<Device> {
  if (!isDeviceId(id))
    throw new EvolverError("UNKNOWN_DEVICE", `there is no device "${String(id)}"`, {
      hint: `devices are ${deviceIds.join(", ")}`,
    });
  return openers[id](options ?? ({} as DeviceOptions[I]));
}

/** Which devices are here: tries each, and closes it again. Never throws for one that is not. */
export async function listDevices(): Promise<DeviceEntry[]> {
  const entries: DeviceEntry[] = [];
  for (const id of deviceIds) entries.push(await probe(id));
  return entries;
}

async function probe(id: DeviceId): Promise<DeviceEntry> {
  try {
    const device = await openDevice(id);
    const { name, subgroupSize, limits } = device;
    await device.close();
    return { id, available: true, why: null, name, subgroup: subgroupSize, limits };
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/\s*\n\s*(help: )?/g, "; ") : String(error);
    return { id, available: false, why, name: null, subgroup: null, limits: null };
  }
}
