/**
 * A stencil: heat spreads over a grid, step by step, between two buffers that swap places.
 *
 *     npx node examples/stencil.ts
 */

import { openDevice, type Device, type DeviceId } from "@evolver/device";
import { add, buffer, f32, kernel, u32 } from "@evolver/kernel";

/** next = the mean of the four neighbours of each cell; outside the grid it is 0. */
export const stencil = kernel(
  "stencil",
  {
    params: { grid: buffer(f32), next: buffer(f32, "write"), columns: u32, rows: u32 },
    workgroup: [8, 8],
    example: { workgroups: [3, 2], args: { grid: 20 * 13, next: 20 * 13, columns: 20, rows: 13 } },
  },
  ({ grid, next, columns, rows }, gpu) => {
    const { x: column, y: row } = gpu.globalId;
    const cells = grid.view({ strides: [columns, 1], extents: [rows, columns] });
    gpu.if(column.lt(columns).and(row.lt(rows)), () => {
      const [x, y] = [column.toI32(), row.toI32()];
      const above = cells.getOr(y.sub(1), x, 0);
      const below = cells.getOr(y.add(1), x, 0);
      const left = cells.getOr(y, x.sub(1), 0);
      const right = cells.getOr(y, x.add(1), 0);
      next.view({ strides: [columns, 1] }).set(row, column, add(above, below, left, right).mul(0.25));
    });
  },
);

/** Begins with one hot cell, shows where the heat is after some steps, and returns the grid. */
export async function main(device: Device, steps = 20): Promise<Float32Array> {
  const [columns, rows] = [40, 15];
  const start = new Float32Array(columns * rows);
  start[7 * columns + 12] = 100;
  let grid = device.createBuffer("f32", start);
  let next = device.createBuffer("f32", columns * rows);
  const program = await device.compile(stencil);
  const workgroups = [Math.ceil(columns / 8), Math.ceil(rows / 8)] as const;
  for (let step = 0; step < steps; step++) {
    await program.run({ workgroups, args: { grid, next, columns, rows } });
    [grid, next] = [next, grid];
  }
  const heat = await grid.read();
  const shades = " ·░▒▓█";
  const shade = (cell: number): string => shades[Math.min(5, Math.ceil(cell * 1.25))] ?? " ";
  for (let row = 0; row < rows; row++)
    console.log(
      Array.from(heat.subarray(row * columns, (row + 1) * columns), shade)
        .join("")
        .trimEnd(),
    );
  return heat;
}

if (import.meta.main !== false) {
  const device = await openDevice((process.argv[2] ?? "sim") as DeviceId);
  await main(device);
  await device.close();
}
