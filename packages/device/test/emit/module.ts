/** Runs a kernel as the JavaScript module that the emitter makes of it. */

import { emit } from "@evolver/kernel";
import type { KernelIR } from "@evolver/kernel";
import type { AnyTypedArray } from "@evolver/device";

type Run = (launch: {
  readonly workgroups: number | readonly number[];
  readonly args: Readonly<Record<string, number | AnyTypedArray>>;
}) => void;

/** Imports the emitted module, which must need nothing but JavaScript itself. */
export async function importEmitted(ir: KernelIR): Promise<Run> {
  const { source, entryPoint } = emit(ir, "js");
  const url = `data:text/javascript,${encodeURIComponent(source)}`;
  const module = (await import(/* @vite-ignore */ url)) as Record<string, Run>;
  return module[entryPoint] as Run;
}
