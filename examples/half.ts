/**
 * 16-bit floats halve the bytes that a kernel moves. Long sums belong in f32: the same kernel with both shows the difference.
 *
 *     npx node examples/half.ts
 */

import { fromF16Bits, openDevice, toF16Bits, type Device, type DeviceId } from "@evolver/device";
import { buffer, f16, f32, kernel, u32 } from "@evolver/kernel";

const params = { x: buffer(f16), sums: buffer(f32, "write"), rows: u32, columns: u32 };
const size = { rows: 40, columns: 2048 };
const workgroups = Math.ceil(size.rows / 32);
const example = { workgroups, args: { x: size.rows * size.columns, sums: size.rows, ...size } };

/** sums[row] = the sum of a row of halves, eight at a time, added up in f32. */
export const rowSums = kernel(
  "rowSums",
  { params, workgroup: [32], example },
  ({ x, sums, rows, columns }, gpu) => {
    const row = gpu.globalId.x;
    gpu.if(row.lt(rows), () => {
      const sum = gpu.var(f32, 0);
      gpu.for({ from: 0, to: columns, step: 8 }, (column) => {
        const eight = x.getVec(8, row.mul(columns).add(column));
        for (let i = 0; i < 8; i++) sum.add(eight.at(i).toF32());
      });
      sums.set(row, sum.get());
    });
  },
);

/** The same, but each addition rounds to 11 bits. */
export const roughRowSums = kernel(
  "roughRowSums",
  { params, workgroup: [32], example },
  ({ x, sums, rows, columns }, gpu) => {
    const row = gpu.globalId.x;
    gpu.if(row.lt(rows), () => {
      const sum = gpu.var(f16, 0);
      gpu.for({ from: 0, to: columns, step: 8 }, (column) => {
        const eight = x.getVec(8, row.mul(columns).add(column));
        for (let i = 0; i < 8; i++) sum.add(eight.at(i));
      });
      sums.set(row, sum.get().toF32());
    });
  },
);

/** Adds up rows by both, prints how far they are off, and returns what came out. */
export async function main(device: Device): Promise<Record<"exact" | "single" | "half", ArrayLike<number>>> {
  const { rows, columns } = size;
  // The host holds halves as their 16 bits.
  const bits = toF16Bits(Array.from({ length: rows * columns }, (_, i) => 1 + Math.sin(i)));
  const values = fromF16Bits(bits);
  const exact = Array.from({ length: rows }, (_, row) =>
    values.subarray(row * columns, (row + 1) * columns).reduce((sum, value) => sum + value, 0),
  );
  const x = device.createBuffer("f16", bits);
  const run = async (subject: typeof rowSums, title: string): Promise<Float32Array> => {
    const sums = device.createBuffer("f32", rows);
    const program = await device.compile(subject);
    await program.run({ workgroups, args: { x, sums, rows, columns } });
    const result = await sums.read();
    const errors = exact.map((right, row) => Math.abs((result[row] as number) - right) / right);
    console.log(`${title}: relative error ${Math.max(...errors).toExponential(0)}`);
    return result;
  };
  console.log(`${bits.byteLength} bytes instead of ${2 * bits.byteLength}`);
  return { exact, single: await run(rowSums, "sums in f32"), half: await run(roughRowSums, "sums in f16") };
}

if (import.meta.main !== false) {
  const device = await openDevice((process.argv[2] ?? "sim") as DeviceId);
  await main(device);
  await device.close();
}
