/**
 * Facts about each device that are known before it is opened, one row each. Devices read their own facts here. open.ts opens
 * them, and the conformance suite lists what they promise beyond the language's core.
 */

import type { EmitTarget } from "@evolver/kernel";
import type { DeviceId } from "./device.ts";

/** What is known of a device before it is opened. */
export interface DeviceRow {
  /** For people. */
  readonly title: string;
  /** What runs the kernels; "any" where a driver decides, which may also use the CPU. */
  readonly hardware: "processor" | "gpu" | "any";
  /** Whether it has a clock of its own and takes launches without waiting (ClockedDevice). */
  readonly clocked: boolean;
  /** Whether a launch's time says how fast the hardware is; where not, times are a model's. */
  readonly measures: boolean;
  /** Whether results say what a launch did and what is wrong with it: counters and findings, with the kernel's names. */
  readonly reports: boolean;
  /** Whether subgroups of a workgroup may wait for each other: Device.forwardProgress. */
  readonly forwardProgress: boolean;
  /** The language that kernels are emitted in; null where the device runs the IR itself. */
  readonly target: EmitTarget | null;
  /** Whether it needs Node. */
  readonly nodeOnly: boolean;
}

/** The rows by device. */
export const deviceRows = Object.freeze({
  sim: {
    title: "the simulator",
    hardware: "processor",
    clocked: false,
    measures: false,
    reports: true,
    forwardProgress: true,
    target: null,
    nodeOnly: false,
  },
  cpu: {
    title: "the processor",
    hardware: "processor",
    clocked: false,
    measures: true,
    reports: false,
    forwardProgress: false,
    target: null,
    nodeOnly: false,
  },
  webgpu: {
    title: "WebGPU",
    hardware: "any",
    clocked: true,
    measures: true,
    reports: false,
    forwardProgress: false,
    target: "wgsl",
    nodeOnly: false,
  },
  cuda: {
    title: "NVIDIA's driver",
    hardware: "gpu",
    clocked: true,
    measures: true,
    reports: false,
    forwardProgress: true,
    target: "cuda",
    nodeOnly: true,
  },
  hip: {
    title: "AMD's driver",
    hardware: "gpu",
    clocked: true,
    measures: true,
    reports: false,
    forwardProgress: true,
    target: "hip",
    nodeOnly: true,
  },
} as const satisfies Record<DeviceId, DeviceRow>);

/** The devices whose rows say what `Facts` says. */
type DevicesWith<Facts> = {
  [I in DeviceId]: (typeof deviceRows)[I] extends Facts ? I : never;
}[DeviceId];

/** Those behind a vendor's driver, which Node alone reaches. */
export type DriverDeviceId = DevicesWith<{ readonly nodeOnly: true }>;
/** Those that need native code, a package of Node's or a browser's own. */
export type NativeDeviceId = DevicesWith<{ readonly clocked: true }>;

/** In the order in which they are listed. */
export const deviceIds: readonly DeviceId[] = Object.freeze(Object.keys(deviceRows) as DeviceId[]);

/** Whether a text names a device. */
export const isDeviceId = (id: string): id is DeviceId => Object.hasOwn(deviceRows, id);

/** Whether a text names a device whose times are a model's. */
export const isModelled = (id: string): id is DeviceId => isDeviceId(id) && !deviceRows[id].measures;
