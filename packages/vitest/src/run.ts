/** Which launch of a kernel a test looks at. */

import type { CheckOptions, KernelCheck } from "@evolver/device/check";
import { checkKernel } from "@evolver/device/check";
import type { Kernel, Params, Tune } from "@evolver/kernel";

/** What to launch in place of the kernel's example, or of a part of it. */
export interface RunOptions<P extends Params> {
  /** Workgroups on x, or on x, y and z. */
  readonly workgroups?: number | readonly number[];
  /** Values of scalars and lengths of buffers. */
  readonly args?: { readonly [K in keyof P]?: number };
  /** Sizes, of a kernel that has some; small ones that are no multiple of anything for those that are left out. */
  readonly sizes?: Readonly<Record<string, number>>;
  /** Iterations of a subgroup's loops after which it counts as endless: 100 million if absent. */
  readonly maxSteps?: number;
}

/** Any kernel, in functions for which its parameters do not matter. */
export type AnyKernel = Kernel<Params, Tune>;

export function runChecks<P extends Params>(
  kernel: AnyKernel,
  { workgroups, args, sizes, maxSteps }: RunOptions<P>,
  { subgroup, schedules }: Pick<CheckOptions, "subgroup" | "schedules">,
): Promise<KernelCheck> {
  return checkKernel(kernel, {
    ...{ subgroup, schedules, traces: 0 },
    workgroups: typeof workgroups === "number" ? [workgroups] : (workgroups ?? null),
    args: (args ?? {}) as Readonly<Record<string, number>>,
    ...(sizes === undefined ? {} : { sizes }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
  });
}
