/** What candidates are built for and timed on. */

import { deviceRows, openDevice, type DeviceId, type DeviceLimits, type MachineFacts } from "@evolver/device";
import type { MachineProfile } from "@evolver/machine";

export interface Target {
  readonly id: DeviceId;
  readonly name: string;
  readonly subgroupSize: number;
  /** Null where time is modelled, and a study's own limits hold. */
  readonly limits: DeviceLimits | null;
  /** Whether times are measured there. */
  readonly measured: boolean;
  /** A GPU with a clock of its own: what the cost model is about. */
  readonly clocked: boolean;
  /** What the device's driver says of its machine, if anything. */
  readonly machine: MachineFacts | null;
}

/**
 * Looks at the device once. On the simulator, candidates are built for the machine.
 *
 * @throws EvolverError what opening the device throws
 */
export async function targetOf(id: string, { subgroupSize: width }: MachineProfile): Promise<Target> {
  // An unknown one is refused by openDevice.
  const row = Object.hasOwn(deviceRows, id) ? deviceRows[id as DeviceId] : deviceRows.cuda;
  const { measures: measured, clocked } = row;
  if (!measured)
    return {
      id: id as DeviceId,
      name: id,
      subgroupSize: width,
      limits: null,
      measured,
      clocked,
      machine: null,
    };
  const device = await openDevice(id as DeviceId);
  try {
    const { name, subgroupSize, limits, machine = null } = device;
    return { id: device.id, name, subgroupSize, limits, measured, clocked, machine };
  } finally {
    await device.close();
  }
}
