/**
 * A product of matrices that the lab can improve: how large the tiles are, and how much of one each invocation computes.
 *
 *     npx evolver evolve examples/tune/matmul.ts                          in the simulator, with modelled times
 *     npx evolver evolve examples/tune/matmul.ts --device cuda --m 4096   on a GPU, with measured ones
 */

import { buffer, f32, fma, kernel, u32 } from "@evolver/kernel";

/** c = a·b for a of m rows and k columns and b of k rows and n columns. */
export const matmul = kernel(
  "matmul",
  {
    params: { a: buffer(f32), b: buffer(f32), c: buffer(f32, "write"), m: u32, n: u32, k: u32 },
    // A workgroup has `tile` × `tile` elements of c, an invocation `each` × `each` of those; `depth` is of one step along k.
    tune: { tile: [16, 32, 64, 128], each: [1, 2, 4, 8], depth: [16, 8, 32] },
    sizes: { m: 512, n: 512, k: 512 },
    workgroup: ({ tune: { tile, each } }) => [tile / each, tile / each],
    example: ({ m, n, k }, { tile, each, depth }) => {
      // A point that cannot be says why, and is left out.
      const invocations = (tile / each) ** 2;
      if (invocations > 1024)
        throw new Error(`${invocations} invocations are more than a workgroup can have`);
      if ((tile * depth) % invocations > 0)
        throw new Error("the invocations cannot share the copying evenly");
      return {
        workgroups: [Math.ceil(n / tile), Math.ceil(m / tile)],
        args: { a: m * k, b: k * n, c: m * n, m, n, k },
      };
    },
    reference({ a, b, m, n, k }, round) {
      const c = new Float64Array(m * n);
      for (let row = 0; row < m; row++)
        for (let column = 0; column < n; column++) {
          let sum = 0;
          for (let i = 0; i < k; i++) sum = round(sum + round(a[row * k + i]! * b[i * n + column]!));
          c[row * n + column] = sum;
        }
      return { c };
    },
    work: ({ m, n, k }) => ({ flops: 2 * m * n * k }),
  },
  ({ a, b, c, m, n, k }, gpu, { tile, each, depth }) => {
    const side = tile / each;
    const left = a.view({ strides: [k, 1], extents: [m, k] });
    const right = b.view({ strides: [n, 1], extents: [k, n] });
    // The left tile lies on its side, so that a step along k reads neighbours of both.
    const leftTile = gpu.shared(f32, [depth, tile + 1]);
    const rightTile = gpu.shared(f32, [depth, tile]);
    const sums = gpu.registers(f32, each * each, 0);
    const { x, y } = gpu.localId;
    const top = gpu.workgroupId.y.mul(tile);
    const start = gpu.workgroupId.x.mul(tile);

    gpu.for({ from: 0, to: k, step: depth }, (first) => {
      for (let e = 0; e < tile * depth; e += side * side) {
        const place = gpu.localIndex.add(e);
        const [row, i] = [place.divFloor(depth), place.modFloor(depth)];
        leftTile.set(i, row, left.getOr(top.add(row), first.add(i), 0));
        const [j, column] = [place.divFloor(tile), place.modFloor(tile)];
        rightTile.set(j, column, right.getOr(first.add(j), start.add(column), 0));
      }
      gpu.barrier();
      for (let i = 0; i < depth; i++) {
        // An invocation's elements are `side` apart: its neighbours read the words beside its own.
        const rows = Array.from({ length: each }, (_, r) => leftTile.get(i, y.add(r * side)));
        const columns = Array.from({ length: each }, (_, s) => rightTile.get(i, x.add(s * side)));
        for (const [r, from] of rows.entries())
          for (const [s, by] of columns.entries())
            sums.set(r * each + s, fma(from, by, sums.get(r * each + s)));
      }
      gpu.barrier();
    });

    const result = c.view({ strides: [n, 1], extents: [m, n] });
    for (let r = 0; r < each; r++)
      for (let s = 0; s < each; s++) {
        const [row, column] = [top.add(y).add(r * side), start.add(x).add(s * side)];
        gpu.if(row.lt(m).and(column.lt(n)), () => result.set(row, column, sums.get(r * each + s)));
      }
  },
);
