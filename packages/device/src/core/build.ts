/** The first step of every device: builds a kernel for the device, and refuses kernels that do not fit it. */

import { EvolverError } from "@evolver/base";
import { sharedBytesOf } from "@evolver/kernel";
import type { Kernel, KernelIR, Params } from "@evolver/kernel";
import { assertOpen, type BufferOwner } from "./buffer.ts";

/** The IR of a kernel for a device; throws where the kernel does not fit it. */
export function buildFor<P extends Params>(
  kernel: Kernel<P> | KernelIR,
  owner: BufferOwner,
  subgroupSize: number,
): KernelIR {
  assertOpen(owner);
  const { limits, forwardProgress } = owner;
  const ir = "build" in kernel ? kernel.build({ subgroup: subgroupSize, forwardProgress }) : kernel;
  const where = [ir.site.location];
  if (!forwardProgress && ir.phaseBarriers.length > 0)
    throw new EvolverError(
      "FORWARD_PROGRESS_UNAVAILABLE",
      `kernel "${ir.name}" has phase barriers, and subgroups on the ${owner.id} device cannot wait for each other`,
      {
        where,
        hint: "build it with { forwardProgress: false }, or give the device the kernel instead of its IR",
      },
    );
  if (!limits.subgroupSizes.includes(ir.subgroupSize))
    throw new EvolverError(
      "UNSUPPORTED_SUBGROUP",
      `kernel "${ir.name}" is built for subgroups of ${ir.subgroupSize}, which the ${owner.id} device does not have`,
      { where, hint: `build it for one of ${limits.subgroupSizes.join(", ")}` },
    );
  const [x, y, z] = ir.workgroupSize;
  if (x * y * z > limits.maxInvocationsPerWorkgroup)
    throw new EvolverError(
      "WORKGROUP_TOO_LARGE",
      `kernel "${ir.name}" has ${x * y * z} invocations per workgroup; the ${owner.id} device allows ${limits.maxInvocationsPerWorkgroup}`,
      { where, hint: "use smaller workgroups and more of them" },
    );
  const sharedBytes = sharedBytesOf(ir);
  if (sharedBytes > limits.maxSharedBytes)
    throw new EvolverError(
      "SHARED_MEMORY_TOO_LARGE",
      `kernel "${ir.name}" needs ${sharedBytes} bytes of shared memory; the ${owner.id} device has ${limits.maxSharedBytes}`,
      { where, hint: "use smaller tiles" },
    );
  return ir;
}
