/**
 * Compiled kernels, shared by all plans on a device. One IR is compiled once. Kernels of equal hash are compiled once,
 * too, except where the device reports on the kernel (findings, counters): those carry names and lines, of which a
 * hash knows nothing.
 */

import { hash, type Kernel, type KernelIR, type Params } from "@evolver/kernel";
import type { Device, Program } from "../core/device.ts";
import { deviceRows } from "../core/device-rows.ts";
import { buildOf } from "./plan.ts";

interface Programs {
  readonly ofKernels: WeakMap<KernelIR, Promise<Program>>;
  /** Held no longer than one of the kernels. */
  readonly ofHashes: Map<string, WeakRef<Promise<Program>>>;
}

const programs = new WeakMap<Device, Programs>();
const keys = new WeakMap<KernelIR, string>();

/**
 * The program of a kernel on a device, which is the same one at each call.
 *
 * @throws what `Device.compile` throws, and again at the next call
 */
export function programFor<P extends Params>(
  device: Device,
  kernel: Kernel<P> | KernelIR,
): Promise<Program<P>> {
  let known = programs.get(device);
  if (known === undefined) programs.set(device, (known = { ofKernels: new WeakMap(), ofHashes: new Map() }));
  const ir = "build" in kernel ? kernel.build(buildOf(device)) : kernel;
  let program = known.ofKernels.get(ir);
  if (program === undefined) {
    program = compile(device, ir, known);
    known.ofKernels.set(ir, program);
  }
  return program as Promise<unknown> as Promise<Program<P>>;
}

function compile(device: Device, ir: KernelIR, { ofKernels, ofHashes }: Programs): Promise<Program> {
  const key = deviceRows[device.id].reports ? null : keyOf(ir);
  const known = key === null ? undefined : ofHashes.get(key)?.deref();
  if (known !== undefined) return known;
  const program = device.compile(ir);
  if (key !== null) ofHashes.set(key, new WeakRef(program));
  program.catch(() => {
    ofKernels.delete(ir);
    if (key !== null) ofHashes.delete(key);
  });
  return program;
}

function keyOf(ir: KernelIR): string {
  let key = keys.get(ir);
  if (key === undefined) keys.set(ir, (key = `${ir.subgroupSize} ${ir.workgroupSize.join("x")} ${hash(ir)}`));
  return key;
}
