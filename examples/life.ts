/**
 * Conway's Game of Life on a grid without edges: a glider flies.
 *
 *     npx node examples/life.ts
 */

import { openDevice, type Device, type DeviceId } from "@evolver/device";
import { buffer, kernel, select, u32 } from "@evolver/kernel";

/** next = the generation after cells: three neighbours give life, two keep it. */
export const life = kernel(
  "life",
  {
    params: { cells: buffer(u32), next: buffer(u32, "write"), columns: u32, rows: u32 },
    workgroup: [8, 8],
    example: {
      workgroups: [3, 2],
      args: { cells: { length: 20 * 13, min: 0, max: 1 }, next: 20 * 13, columns: 20, rows: 13 },
    },
  },
  ({ cells, next, columns, rows }, gpu) => {
    const { x: column, y: row } = gpu.globalId;
    gpu.if(column.lt(columns).and(row.lt(rows)), () => {
      const neighbours = gpu.var(u32, 0);
      for (const down of [0, 1, 2])
        for (const right of [0, 1, 2]) {
          if (down === 1 && right === 1) continue;
          // From one before to one after. Unsigned numbers have no −1, so that one before is `rows` − 1 after.
          const y = row.add(rows.sub(1)).add(down).modFloor(rows);
          const x = column.add(columns.sub(1)).add(right).modFloor(columns);
          neighbours.add(cells.get(y.mul(columns).add(x)));
        }
      const i = row.mul(columns).add(column);
      const count = neighbours.get();
      const lives = count.eq(3).or(count.eq(2).and(cells.get(i).eq(1)));
      next.set(i, select(lives, gpu.constant(u32, 1), 0));
    });
  },
);

const [columns, rows] = [20, 8];
const glider = [".#.", "..#", "###"];

/** Shows a glider after 0, 12 and 24 generations, and returns these three grids. */
export async function main(device: Device): Promise<Uint32Array[]> {
  const start = new Uint32Array(columns * rows);
  for (const [y, line] of glider.entries())
    for (const [x, cell] of [...line].entries()) start[y * columns + x] = cell === "#" ? 1 : 0;

  let cells = device.createBuffer("u32", start);
  let next = device.createBuffer("u32", columns * rows);
  const program = await device.compile(life);
  const workgroups = [Math.ceil(columns / 8), Math.ceil(rows / 8)] as const;
  const grids: Uint32Array[] = [];
  for (let generation = 0; generation <= 24; generation++) {
    if (generation % 12 === 0) {
      const grid = await cells.read();
      grids.push(grid);
      console.log(`generation ${generation}`);
      for (let row = 0; row < rows; row++)
        console.log(Array.from(grid.subarray(row * columns, (row + 1) * columns), (x) => ".#"[x]).join(""));
    }
    await program.run({ workgroups, args: { cells, next, columns, rows } });
    [cells, next] = [next, cells];
  }
  return grids;
}

if (import.meta.main !== false) {
  const device = await openDevice((process.argv[2] ?? "sim") as DeviceId);
  await main(device);
  await device.close();
}
