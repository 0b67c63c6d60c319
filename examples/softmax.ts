/**
 * Softmax of each row of a matrix: one subgroup per row, whose lanes find the largest value and the sum together.
 *
 *     npx node examples/softmax.ts
 */

import { openDevice, type Device, type DeviceId } from "@evolver/device";
import { buffer, exp, f32, kernel, max, u32 } from "@evolver/kernel";

/** y = exp(x − largest) / Σ exp(x − largest), row by row. */
export const softmax = kernel(
  "softmax",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), columns: u32 },
    // A kernel does not depend on one subgroup width: NVIDIA has 32, AMD 64 or 32, SwiftShader 4.
    workgroup: ({ subgroup }) => [subgroup],
    example: { workgroups: 5, args: { x: 5 * 50, y: 5 * 50, columns: 50 } },
  },
  ({ x, y, columns }, gpu) => {
    const first = gpu.workgroupIndex.mul(columns);
    const eachColumn = { from: gpu.lane, to: columns, step: gpu.subgroupSize };

    const mine = gpu.var(f32, -Infinity);
    gpu.for(eachColumn, (column) => mine.set(max(mine.get(), x.get(first.add(column)))));
    const largest = gpu.subgroup.max(mine.get());

    const sum = gpu.var(f32, 0);
    gpu.for(eachColumn, (column) => sum.add(exp(x.get(first.add(column)).sub(largest))));
    const total = gpu.subgroup.sum(sum.get());

    gpu.for(eachColumn, (column) => {
      const i = first.add(column);
      y.set(i, exp(x.get(i).sub(largest)).div(total));
    });
  },
);

/** Runs it on five rows, the last of which would overflow without the subtraction, and returns the result. */
export async function main(device: Device): Promise<Float32Array> {
  const [rows, columns] = [5, 50];
  const values = Float32Array.from(
    { length: rows * columns },
    (_, i) => 50 * Math.floor(i / columns) + Math.sin(i),
  );
  const x = device.createBuffer("f32", values);
  const y = device.createBuffer("f32", rows * columns);
  const program = await device.compile(softmax);
  const { counters } = await program.run({ workgroups: rows, args: { x, y, columns } });

  const result = await y.read();
  for (let row = 0; row < rows; row++) {
    const line = result.subarray(row * columns, (row + 1) * columns);
    const sum = line.reduce((a, b) => a + b, 0);
    const shown = [...line.subarray(0, 4)].map((value) => value.toFixed(4)).join(" ");
    console.log(`row ${row}: ${shown} …, sum ${sum.toFixed(4)}`);
  }
  if (counters !== null) console.log(`${counters.barriers} barriers: the lanes of a subgroup need none`);
  return result;
}

if (import.meta.main !== false) {
  const device = await openDevice((process.argv[2] ?? "sim") as DeviceId);
  await main(device);
  await device.close();
}
