/**
 * The sum of an array: each lane adds up some elements, the lanes of a subgroup add up theirs together, and one lane per
 * subgroup adds that to the result with an atomic.
 *
 *     npx node examples/reduction.ts
 */

import { openDevice, type Device, type DeviceId } from "@evolver/device";
import { atomic, buffer, f32, kernel, u32 } from "@evolver/kernel";

/** Adds the n elements of x to total[0]. */
export const sum = kernel(
  "sum",
  {
    params: { x: buffer(f32), total: buffer(atomic(f32)), n: u32 },
    workgroup: [128],
    example: { workgroups: 3, args: { x: 5000, total: new Float32Array(1), n: 5000 } },
  },
  ({ x, total, n }, gpu) => {
    const mine = gpu.var(f32, 0);
    // All invocations of the launch go through x side by side, so that neighbours read neighbours.
    const step = gpu.numWorkgroups.x.mul(gpu.workgroupSize[0]);
    gpu.for({ from: gpu.globalId.x, to: n, step }, (i) => mine.add(x.get(i)));
    const together = gpu.subgroup.sum(mine.get());
    gpu.if(gpu.lane.eq(0), () => total.add(0, together));
  },
);

/** Adds up 1 to 5000, and returns the sum. */
export async function main(device: Device): Promise<number> {
  const n = 5000;
  const x = device.createBuffer(
    "f32",
    Float32Array.from({ length: n }, (_, i) => i + 1),
  );
  // Zero at first, as every buffer that is made by length.
  const total = device.createBuffer("f32", 1);
  const program = await device.compile(sum);
  const { counters } = await program.run({ workgroups: 3, args: { x, total, n } });

  const [result = NaN] = await total.read();
  console.log(`1 + … + ${n} = ${result}`);
  if (counters !== null) console.log(`${counters.globalAtomics} atomic additions for ${n} elements`);
  return result;
}

if (import.meta.main !== false) {
  const device = await openDevice((process.argv[2] ?? "sim") as DeviceId);
  await main(device);
  await device.close();
}
