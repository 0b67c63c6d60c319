/** A plan on buffers of a device of ours, outside the judge: inputs loaded, outputs NaN, scratch zeroed once. */

import {
  isClocked,
  type AnyTypedArray,
  type ClockedProgram,
  type Device,
  type DeviceBuffer,
  type Launch,
  type RunResult,
} from "@evolver/device";
import { EvolverError } from "@evolver/base";
import type { BoundPlan, Plan } from "@evolver/lab";

/** What a launch may have other than the plan's. */
interface ChangedLaunch {
  readonly workgroups: number;
  /** Scalars by name. */
  readonly args: Readonly<Record<string, number>>;
  readonly sample: readonly number[];
}

export interface BoundBuffers extends BoundPlan {
  readonly buffers: Readonly<Record<string, DeviceBuffer>>;
  /** Enqueues the launch without waiting, on a device with a clock of its own; null elsewhere or with no workgroups. */
  readonly enqueue: (() => void) | null;
  /** Launches it with changes, on the same buffers. */
  runChanged(change: ChangedLaunch): Promise<RunResult>;
  destroy(): void;
}

/** Binds a plan of one launch. */
export async function bindPlan(
  plan: Plan,
  device: Device,
  inputs: Readonly<Record<string, AnyTypedArray>>,
): Promise<BoundBuffers> {
  const [kernel] = plan.kernels;
  const [launch] = plan.launches;
  if (kernel === undefined || launch === undefined || plan.launches.length > 1) {
    throw new EvolverError("PLAN_INVALID", "a plan of one launch is wanted");
  }
  const program = await device.compile(kernel);
  const buffers = Object.fromEntries(
    plan.buffers.map(({ name, role, element, length }) => {
      if (role === "scratch") return [name, device.createBuffer(element, length)];
      const contents =
        role === "input"
          ? (inputs[name] as Float32Array<ArrayBuffer>)
          : new Float32Array(length).fill(Number.NaN);
      return [name, device.createBuffer("f32", contents)];
    }),
  );
  const args = Object.fromEntries(
    Object.entries(launch.args).map(([name, argument]) => [
      name,
      typeof argument === "number" ? argument : buffers[argument.buffer],
    ]),
  ) as unknown as Launch["args"];
  const { workgroups } = launch;
  return {
    plan,
    device,
    buffers,
    enqueue: isClocked(device) ? (program as ClockedProgram).prepare({ workgroups, args }) : null,
    run: async (sample) => {
      const chosen = sample?.(0) ?? null;
      return [await program.run({ workgroups, args, ...(chosen === null ? {} : { sample: chosen }) })];
    },
    runChanged: (change) => program.run({ ...change, args: { ...args, ...change.args } }),
    destroy() {
      for (const buffer of Object.values(buffers)) buffer.destroy();
    },
  };
}
