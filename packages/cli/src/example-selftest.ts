/**
 * The self-test of a user's kernel: its example launch, with the simulator's results as the expected values. A kernel
 * for which the simulator reports findings gets no self-test.
 */

import { openSim, type AnyTypedArray, type DeviceBuffer, type Launch } from "@evolver/device";
import { exampleLaunch } from "@evolver/device/check";
import {
  ops,
  visitNodes,
  type Kernel,
  type KernelIR,
  type Selftest,
  type SelftestBuffer,
} from "@evolver/kernel";

export interface ExampleSelftest {
  readonly selftest: Selftest;
  /** Names of what the kernel's example leaves open. */
  readonly guessed: readonly string[];
}

/** Of the value, and of the largest value in the buffer: a few roundings of such an operation. */
const TOLERANCE = 1e-5;

/**
 * @param ir the build of the kernel that is emitted: the simulator runs the very same, since a body may do other work
 *   where subgroups cannot wait
 * @throws EvolverError KERNEL_FINDINGS where the simulator finds fault, and what the launch is refused for
 */
export async function exampleSelftest(kernel: Kernel, ir: KernelIR): Promise<ExampleSelftest> {
  const device = openSim({ subgroup: ir.subgroupSize });
  try {
    const program = await device.compile(ir);
    const { workgroups, args, guessed } = exampleLaunch(
      kernel,
      device,
      // A GPU does not check bounds: made-up indices stay harmless.
      { workgroups: null, args: {}, integers: "zeros" },
      ir,
    );
    const before = await readBuffers(args);
    await program.run({ workgroups, args } as unknown as Launch);
    const after = await readBuffers(args);
    const buffers = program.ir.params.flatMap((param): [string, number | SelftestBuffer][] => {
      if (param.kind === "scalar" && param.lengthOf !== null) return [];
      const value = args[param.name];
      if (typeof value === "number") return [[param.name, value]];
      const initial = before[param.name] as AnyTypedArray;
      const isZero = initial.every((element) => Object.is(element, 0));
      const final = after[param.name] as AnyTypedArray;
      const isWritten = param.kind === "buffer" && param.memory.access !== "read";
      const entry: SelftestBuffer = {
        length: initial.length,
        contents: isZero ? { kind: "zeros" } : { kind: "values", values: initial },
        ...(isWritten ? { expected: { values: final, tolerance: toleranceOf(program.ir, final) } } : {}),
      };
      return [[param.name, entry]];
    });
    const title = `kernel ${kernel.name}, its example against the simulator`;
    return { selftest: { title, workgroups, args: Object.fromEntries(buffers) }, guessed };
  } finally {
    await device.close();
  }
}

async function readBuffers(
  args: Readonly<Record<string, number | DeviceBuffer>>,
): Promise<Record<string, AnyTypedArray>> {
  const arrays: Record<string, AnyTypedArray> = {};
  for (const [name, value] of Object.entries(args))
    if (typeof value !== "number") arrays[name] = await value.read();
  return arrays;
}

/** Exact for integers, and for f32 where every operation of the kernel has one result and one order. */
function toleranceOf(ir: KernelIR, values: AnyTypedArray): { relative: number; absolute: number } | null {
  if (!(values instanceof Float32Array)) return null;
  let isExact = true;
  visitNodes(ir.body, (node) => {
    if (node.kind === "op" && ops[node.op].approximate === true) isExact = false;
    if (node.kind === "atomic" && node.memory.element === "f32") isExact = false;
  });
  if (isExact) return null;
  const largest = values.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0);
  return { relative: TOLERANCE, absolute: TOLERANCE * largest };
}
