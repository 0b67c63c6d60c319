/**
 * A plan: launches of kernels over named buffers, in order, as plain data. It can be written down, sent to another
 * process, hashed and compared; nothing runs until `bindPlan` puts it on a device. build.ts makes plans, check.ts checks
 * them, and wire.ts writes and reads them as text.
 */

import type { BuildOptions, ElementType, KernelIR } from "@evolver/kernel";
import type { Device } from "../core/device.ts";

/** What kernels of a plan are built for. */
export type PlanBuild = Required<BuildOptions>;

/** What kernels for a device are built for. */
export const buildOf = ({ subgroupSize, forwardProgress }: Device): PlanBuild => ({
  subgroup: subgroupSize,
  forwardProgress,
});

/** Whose a buffer of a plan is. */
export type BufferRole = "input" | "output" | "inout" | "scratch";

/** A buffer of a plan. */
export interface PlanBuffer {
  readonly name: string;
  /**
   * Inputs and outputs belong to the user of the plan, and so does what is both (inout): it is given, and changed in place. Scratch
   * holds what launches pass to later ones or keep.
   */
  readonly role: BufferRole;
  readonly element: ElementType;
  /** In elements. */
  readonly length: number;
  /**
   * Scratch only. Without it, scratch holds garbage at first and then garbage or what the last run left; with true, it
   * is zeroed before each run; with "once", before the first, for kernels that leave zeros behind.
   */
  readonly zeroed?: boolean | "once";
}

/** A number for a scalar parameter, the name of one of the plan's buffers for a buffer. */
export type PlanArgument = number | { readonly buffer: string };

/** A launch of a plan. */
export interface PlanLaunch {
  /** Index into the plan's kernels. */
  readonly kernel: number;
  /** On x, y and z. */
  readonly workgroups: readonly [number, number, number];
  /** One for each parameter of the kernel. */
  readonly args: Readonly<Record<string, PlanArgument>>;
}

/** The element types of a plan's buffers by their names, where the compiler knows them. */
export type PlanTypes = Readonly<Record<string, ElementType>>;

/** Has no value: it tells the compiler what a plan's buffers hold, so that reading one gives the right array. */
declare const types: unique symbol;

/** Launches over named buffers, as plain data. `buildPlan` makes one, `bindPlan` puts it on a device. */
export interface Plan<B extends PlanTypes = PlanTypes> {
  readonly kernels: readonly KernelIR[];
  readonly buffers: readonly PlanBuffer[];
  /** Run in order. */
  readonly launches: readonly PlanLaunch[];
  readonly [types]?: B;
}

/** How many workgroups a launch has. */
export const workgroupCount = ({ workgroups: [x, y, z] }: PlanLaunch): number => x * y * z;

/** Workgroups on x, y and z, of a number on x or of as many axes as are given. */
export function workgroupCounts(
  workgroups: number | readonly [number, number?, number?],
): PlanLaunch["workgroups"] {
  if (typeof workgroups === "number") return [workgroups, 1, 1];
  const [x, y = 1, z = 1] = workgroups;
  return [x, y, z];
}
