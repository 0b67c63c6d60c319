/** What candidates are built for and timed on. */

import {
  isClocked,
  isModelled,
  openDevice,
  type DeviceId,
  type DeviceLimits,
  type MachineFacts,
} from "@evolver/device";
import type { MachineProfile } from "@evolver/machine";
import { defaultMachine } from "./machine.ts";

/** The device that candidates are for. */
export interface Target {
  readonly id: DeviceId;
  readonly name: string;
  readonly subgroupSize: number;
  /** See BuildOptions. */
  readonly forwardProgress: boolean;
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
 * Looks at the device once. On the simulator, candidates are built for subgroups as wide as the default machine's.
 *
 * @throws EvolverError what opening the device throws
 */
export async function targetOf(id: string): Promise<Target> {
  if (isModelled(id)) {
    const { subgroupSize } = defaultMachine;
    return {
      id,
      name: id,
      subgroupSize,
      forwardProgress: true,
      limits: null,
      measured: false,
      clocked: false,
      machine: null,
    };
  }
  const device = await openDevice(id as DeviceId);
  try {
    const { name, subgroupSize, forwardProgress, limits, machine = null } = device;
    const clocked = isClocked(device);
    return { id: device.id, name, subgroupSize, forwardProgress, limits, measured: true, clocked, machine };
  } finally {
    await device.close();
  }
}

/** Where a study's times come from, for people: the device's clock, or the machine that they are modelled for. */
export const timesFrom = (target: Target, machine: MachineProfile): string =>
  target.measured ? `${target.name}, device clock` : machine.name;
