/**
 * The transpose of a matrix, after Harris, "An Efficient Matrix Transpose in CUDA C/C++": straight from memory to memory, where
 * either reads or writes lie far apart; or through a tile in shared memory, plain, padded or swizzled against bank conflicts.
 *
 *     npx evolver evolve examples/tune/transpose.ts
 */

import { buffer, f32, kernel, padded, u32, swizzled } from "@evolver/kernel";

export const transpose = kernel(
  "transpose",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), rows: u32, columns: u32 },
    tune: {
      through: ["nothing", "tile", "padded tile", "swizzled tile"],
      /** Rows and columns of a tile. */
      tile: [16, 32, 64],
      /** Rows of invocations that go through the tile together. */
      high: [4, 8, 16],
    },
    sizes: { rows: 4096, columns: 4096 },
    workgroup: ({ tune }) => [tune.tile, tune.high],
    example: ({ rows, columns }, { tile }) => ({
      workgroups: [Math.ceil(columns / tile), Math.ceil(rows / tile)],
      args: { x: rows * columns, y: rows * columns, rows, columns },
    }),
    reference({ x, rows, columns }) {
      const y = new Float64Array(rows * columns);
      for (let row = 0; row < rows; row++)
        for (let column = 0; column < columns; column++) y[column * rows + row] = x[row * columns + column]!;
      return { y };
    },
  },
  ({ x, y, rows, columns }, gpu, { through, tile, high }) => {
    const from = x.view({ strides: [columns, 1] });
    const to = y.view({ strides: [rows, 1] });
    const { x: across, y: down } = gpu.localId;
    const [top, left] = [gpu.workgroupId.y.mul(tile), gpu.workgroupId.x.mul(tile)];
    const steps = Array.from({ length: tile / high }, (_, k) => down.add(k * high));
    if (through === "nothing") {
      for (const step of steps) {
        const [row, column] = [top.add(step), left.add(across)];
        gpu.if(row.lt(rows).and(column.lt(columns)), () => to.set(column, row, from.get(row, column)));
      }
      return;
    }
    const layout =
      through === "tile"
        ? [tile, tile]
        : through === "padded tile"
          ? padded([tile, tile], 1)
          : swizzled([tile, tile]);
    const shared = gpu.shared(f32, layout);
    for (const step of steps) {
      const [row, column] = [top.add(step), left.add(across)];
      gpu.if(row.lt(rows).and(column.lt(columns)), () => shared.set(step, across, from.get(row, column)));
    }
    gpu.barrier();
    for (const step of steps) {
      const [row, column] = [left.add(step), top.add(across)];
      gpu.if(row.lt(columns).and(column.lt(rows)), () => to.set(row, column, shared.get(across, step)));
    }
  },
);
