/** The files that `evolver new` writes: a kernel that can be improved as it is, and its test. */

import { nodeCommand } from "./node-command.ts";

/** @param name of the kernel, an identifier */
export const kernelTemplate = (name: string, file: string): string => `/**
 * The sum of each row of a matrix. Replace it by a kernel of your own, piece by piece; each of these goes on working:
 *
 *     npx evolver check ${file}.ts           find mistakes in the simulator
 *     npx evolver evolve ${file}.ts          verify it, and try its choices
 *     npx evolver evolve ${file}.ts --device webgpu --rows 4096
 *     npx evolver emit ${file}.ts/champion --target wgsl
 */

import { buffer, f32, kernel, u32 } from "@evolver/kernel";

const WIDTH = 64;

export const ${name} = kernel(
  "${name}",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), rows: u32, columns: u32 },
    // What the lab may choose. The first values are where it begins.
    tune: { lanes: [1, 4, 16, 64], unroll: [1, 2, 4] },
    // The sizes that are timed; the kernel is verified on smaller ones, too.
    sizes: { rows: 1024, columns: 1024 },
    workgroup: [WIDTH],
    // How it is launched: a length for each buffer, a number for each scalar.
    example: ({ rows, columns }, { lanes }) => ({
      workgroups: Math.ceil((rows * lanes) / WIDTH),
      args: { x: rows * columns, y: rows, rows, columns },
    }),
    // What is right, in plain TypeScript. \`round\` goes where a plain kernel would round.
    reference({ x, rows, columns }, round) {
      const y = new Float64Array(rows);
      for (let row = 0; row < rows; row++)
        for (let i = 0; i < columns; i++) y[row] = round(y[row]! + x[row * columns + i]!);
      return { y };
    },
    work: ({ rows, columns }) => ({ flops: rows * columns }),
  },
  ({ x, y, rows, columns }, gpu, { lanes, unroll }) => {
    const row = gpu.globalId.x.divFloor(lanes);
    const lane = gpu.localIndex.modFloor(lanes);
    const inside = row.lt(rows);
    const sum = gpu.var(f32, 0);
    gpu.if(inside, () => {
      gpu.for({ from: lane, to: columns, step: lanes * unroll }, (first) => {
        for (let j = 0; j < unroll; j++) {
          const column = first.add(j * lanes);
          gpu.if(column.lt(columns), () => sum.add(x.get(row.mul(columns).add(column))));
        }
      });
    });
    // The lanes of a row add up what they have.
    const parts = gpu.shared(f32, WIDTH);
    parts.set(gpu.localIndex, sum.get());
    gpu.barrier();
    gpu.if(inside.and(lane.eq(0)), () => {
      const total = gpu.var(f32, 0);
      for (let j = 0; j < lanes; j++) total.add(parts.get(gpu.localIndex.add(j)));
      y.set(row, total.get());
    });
  },
);
`;

export const testTemplate = (
  name: string,
  file: string,
): string => `/** Run it with \`${nodeCommand} --test ${file}.test.ts\`. */

import { test } from "node:test";
import { pointsOf, verify } from "@evolver/lab";
import { ${name} } from "./${file}.ts";

for (const choices of pointsOf(${name}))
  test(\`${name} is right at \${JSON.stringify(choices)}\`, async () => {
    await verify(${name}, { choices });
  });
`;
