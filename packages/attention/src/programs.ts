/** Compiled kernels, kept for as long as their device: a kernel serves many problems, and compiling takes a while. */

import type { Device, Program } from "@evolver/device";
import type { Kernel, Params } from "@evolver/kernel";

const programs = new WeakMap<Device, WeakMap<object, Promise<unknown>>>();

/** The program of a kernel on a device; compiled at the first call, and again after a failure. */
export function programFor<P extends Params>(device: Device, kernel: Kernel<P>): Promise<Program<P>> {
  let known = programs.get(device);
  if (known === undefined) programs.set(device, (known = new WeakMap()));
  let program = known.get(kernel) as Promise<Program<P>> | undefined;
  if (program === undefined) {
    const kept = known;
    program = device.compile(kernel);
    kept.set(kernel, program);
    program.catch(() => kept.delete(kernel));
  }
  return program;
}
