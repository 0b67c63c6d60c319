/** Devices that need native code or a package of Node's; each is loaded when it is asked for. */

import { assertNever, EvolverError } from "@evolver/base";
import type { NativeDeviceId } from "../core/device-rows.ts";
import type { Device } from "../core/device.ts";

export async function openNative(id: NativeDeviceId, options: object): Promise<Device> {
  switch (id) {
    case "webgpu": {
      const { openWebgpuInNode } = await import("../webgpu/dawn.node.ts");
      return openWebgpuInNode(options);
    }
    case "cuda": {
      const { openCuda } = await loading("cuda", () => import("./cuda/index.ts"));
      return openCuda(options);
    }
    case "hip": {
      const { openHip } = await loading("hip", () => import("./hip/index.ts"));
      return openHip(options);
    }
    default:
      return assertNever(id, "native device");
  }
}

/** The foreign-function package is optional: where it did not install, the device says so. */
async function loading<M>(id: string, load: () => Promise<M>): Promise<M> {
  try {
    return await load();
  } catch (error) {
    throw new EvolverError(
      "DEVICE_UNAVAILABLE",
      `${id} needs the npm package koffi, which does not load here`,
      {
        hint: "run `npm ci` without --omit=optional",
        cause: error,
      },
    );
  }
}
