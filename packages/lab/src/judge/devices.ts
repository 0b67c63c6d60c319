/** The devices that a judge works with. */

import { isModelled, openDevice, type Device, type DeviceId } from "@evolver/device";
import { EvolverError } from "@evolver/base";

export interface JudgeDevices {
  /** Finds mistakes, and counts. */
  readonly simulator: Device;
  /** Runs large cases. */
  readonly fast: Device;
  /** The same for kernels whose subgroups wait for each other. */
  readonly waiting: Device;
  /** Times: the simulator if time is modelled. */
  readonly timer: Device;
}

/** @param id what is evolved for: "sim" for modelled time, or a device with a clock */
export async function openJudgeDevices(id: string): Promise<JudgeDevices> {
  const simulator = await openDevice("sim", { onFinding: "collect" });
  const modelled = isModelled(id);
  const fast = modelled ? await openFast() : await openDevice(id as DeviceId);
  const waiting = fast.forwardProgress ? fast : await openUnchecked();
  return { simulator, fast, waiting, timer: modelled ? simulator : fast };
}

/** The processor, or where it is no device, the simulator without its checks. */
async function openFast(): Promise<Device> {
  try {
    return await openDevice("cpu");
  } catch (error) {
    if (!(error instanceof EvolverError && error.code === "DEVICE_UNAVAILABLE")) throw error;
    return openUnchecked();
  }
}

const openUnchecked = (): Promise<Device> =>
  openDevice("sim", { checks: false, counters: false, onFinding: "collect" });
