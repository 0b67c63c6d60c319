/**
 * A product of matrices with tiles in shared memory, beside the plain loop. No size has to be a multiple of anything.
 *
 *     npx node examples/matmul.ts
 */

import { openDevice, type Device, type DeviceId } from "@evolver/device";
import { buffer, f32, fma, kernel, u32 } from "@evolver/kernel";

const TILE = 16;
const params = { a: buffer(f32), b: buffer(f32), c: buffer(f32, "write"), m: u32, n: u32, k: u32 };
const size = { m: 35, n: 30, k: 19 };
const workgroups = [Math.ceil(size.n / TILE), Math.ceil(size.m / TILE)] as const;
const lengths = { a: size.m * size.k, b: size.k * size.n, c: size.m * size.n };
const example = { workgroups, args: { ...lengths, ...size } };

/** c = a·b: each invocation reads a row of a and a column of b from global memory. */
export const plain = kernel(
  "plain",
  { params, workgroup: [TILE, TILE], example },
  ({ a, b, c, m, n, k }, gpu) => {
    const { x: column, y: row } = gpu.globalId;
    gpu.if(row.lt(m).and(column.lt(n)), () => {
      const sum = gpu.var(f32, 0);
      gpu.for({ from: 0, to: k }, (i) =>
        sum.set(fma(a.get(row.mul(k).add(i)), b.get(i.mul(n).add(column)), sum.get())),
      );
      c.set(row.mul(n).add(column), sum.get());
    });
  },
);

/** The same: a workgroup reads tiles of 16×16 once, and each invocation takes all it needs from there. */
export const matmul = kernel(
  "matmul",
  { params, workgroup: [TILE, TILE], example },
  ({ a, b, c, m, n, k }, gpu) => {
    const left = a.view({ strides: [k, 1], extents: [m, k] });
    const right = b.view({ strides: [n, 1], extents: [k, n] });
    const { x, y } = gpu.localId;
    const { x: column, y: row } = gpu.globalId;
    const leftTile = gpu.shared(f32, [TILE, TILE]);
    const rightTile = gpu.shared(f32, [TILE, TILE]);
    const sum = gpu.var(f32, 0);
    gpu.for({ from: 0, to: k, step: TILE }, (first) => {
      leftTile.set(y, x, left.getOr(row, first.add(x), 0));
      rightTile.set(y, x, right.getOr(first.add(y), column, 0));
      gpu.barrier();
      // A loop of JavaScript: it runs when the kernel is built, so that the device gets 16 lines.
      for (let i = 0; i < TILE; i++) sum.set(fma(leftTile.get(y, i), rightTile.get(i, x), sum.get()));
      gpu.barrier();
    });
    gpu.if(row.lt(m).and(column.lt(n)), () => c.view({ strides: [n, 1] }).set(row, column, sum.get()));
  },
);

/** Multiplies two small matrices by both, and returns the results. */
export async function main(device: Device): Promise<{ plain: Float32Array; tiled: Float32Array }> {
  const numbers = (length: number): Float32Array =>
    Float32Array.from({ length }, (_, i) => ((i * 37) % 17) - 8);
  const a = device.createBuffer("f32", numbers(lengths.a));
  const b = device.createBuffer("f32", numbers(lengths.b));
  const multiply = async (subject: typeof matmul): Promise<Float32Array> => {
    const c = device.createBuffer("f32", lengths.c);
    const program = await device.compile(subject);
    const { counters } = await program.run({ workgroups, args: { a, b, c, ...size } });
    const result = await c.read();
    const read = counters === null ? "" : `, ${counters.globalReadBytes} bytes read from global memory`;
    console.log(`${subject.name}: c[0] = ${result[0]}, c[${lengths.c - 1}] = ${result.at(-1)}${read}`);
    return result;
  };
  return { plain: await multiply(plain), tiled: await multiply(matmul) };
}

if (import.meta.main !== false) {
  const device = await openDevice((process.argv[2] ?? "sim") as DeviceId);
  await main(device);
  await device.close();
}
