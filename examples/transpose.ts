/**
 * A matrix transposed through shared memory, with three layouts of the tile. A column of a plain tile lies in one bank, so that 32
 * lanes wait for each other; padding and an XOR swizzle spread it over all banks.
 *
 *     npx node examples/transpose.ts
 */

import { openDevice, type Device, type DeviceId } from "@evolver/device";
import {
  buffer,
  f32,
  kernel,
  padded,
  rowMajor,
  swizzled,
  u32,
  type Kernel,
  type Layout,
} from "@evolver/kernel";

const TILE = 32;
const params = { input: buffer(f32), output: buffer(f32, "write"), rows: u32, columns: u32 };

/** output = the transpose of input, which has so many rows and columns; a tile of 32×32 per workgroup. */
const transposeWith = (layout: Layout): Kernel<typeof params> =>
  kernel(
    "transpose",
    {
      params,
      workgroup: [TILE, 8],
      example: { workgroups: [2, 3], args: { input: 70 * 50, output: 70 * 50, rows: 70, columns: 50 } },
    },
    ({ input, output, rows, columns }, gpu) => {
      const source = input.view({ strides: [columns, 1], extents: [rows, columns] });
      const target = output.view({ strides: [rows, 1], extents: [columns, rows] });
      const tile = gpu.shared(f32, layout);
      const { x, y } = gpu.localId;
      const top = gpu.workgroupId.y.mul(TILE);
      const side = gpu.workgroupId.x.mul(TILE);
      for (let step = 0; step < TILE; step += 8) {
        const row = y.add(step);
        tile.set(row, x, source.getOr(top.add(row), side.add(x), 0));
      }
      gpu.barrier();
      for (let step = 0; step < TILE; step += 8) {
        const row = side.add(y).add(step);
        const column = top.add(x);
        gpu.if(row.lt(columns).and(column.lt(rows)), () => target.set(row, column, tile.get(x, y.add(step))));
      }
    },
  );

const layouts = [rowMajor([TILE, TILE]), padded([TILE, TILE], 1), swizzled([TILE, TILE])];

/** To check: `npx evolver check examples/transpose.ts` */
export const transpose = transposeWith(swizzled([TILE, TILE]));

export interface Transposed {
  readonly output: Float32Array;
  /** Null where the device does not count. */
  readonly conflicts: number | null;
}

/** Transposes a matrix of 70 rows and 50 columns with each layout, and returns what came out by the layout's name. */
export async function main(device: Device): Promise<Record<string, Transposed>> {
  const [rows, columns] = [70, 50];
  const input = device.createBuffer(
    "f32",
    Float32Array.from({ length: rows * columns }, (_, i) => i),
  );
  const results: Record<string, Transposed> = {};
  for (const layout of layouts) {
    const output = device.createBuffer("f32", rows * columns);
    const program = await device.compile(transposeWith(layout));
    const { counters } = await program.run({ workgroups: [2, 3], args: { input, output, rows, columns } });
    const transposed = await output.read();
    const conflicts = counters?.sharedConflicts ?? null;
    const bytes = `${layout.size * 4} bytes of shared memory`;
    const counted = conflicts === null ? "" : `, ${conflicts} bank conflicts`;
    console.log(`${layout.name}: first row ${transposed.subarray(0, 4).join(" ")} …, ${bytes}${counted}`);
    results[layout.name] = { output: transposed, conflicts };
  }
  return results;
}

if (import.meta.main !== false) {
  const device = await openDevice((process.argv[2] ?? "sim") as DeviceId);
  await main(device);
  await device.close();
}
