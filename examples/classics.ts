/**
 * Five kernels that everybody writes once: a product of matrices with tails, a histogram, a scan, a stencil and a convolution
 * with a halo. No size has to be a multiple of anything: reads outside give a value with `getOr`.
 *
 *     npx evolver check examples/classics.ts
 *     npx evolver emit examples/classics.ts#matmul --target wgsl
 */

import { add, atomic, buffer, f32, fma, kernel, u32 } from "@evolver/kernel";

const TILE = 16;

/** c = a·b for a of m rows and k columns and b of k rows and n columns; one workgroup per 16×16 elements of c. */
export const matmul = kernel(
  "matmul",
  {
    params: { a: buffer(f32), b: buffer(f32), c: buffer(f32, "write"), m: u32, n: u32, k: u32 },
    workgroup: [TILE, TILE],
    example: { workgroups: [2, 3], args: { a: 35 * 19, b: 19 * 30, c: 35 * 30, m: 35, n: 30, k: 19 } },
  },
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
      for (let i = 0; i < TILE; i++) sum.set(fma(leftTile.get(y, i), rightTile.get(i, x), sum.get()));
      gpu.barrier();
    });
    gpu.if(row.lt(m).and(column.lt(n)), () => c.view({ strides: [n, 1] }).set(row, column, sum.get()));
  },
);

/** Adds to bins how often each byte stands in data: counted per workgroup first. */
export const byteHistogram = kernel(
  "byteHistogram",
  {
    params: { data: buffer(u32), bins: buffer(atomic(u32)) },
    workgroup: [256],
    example: { workgroups: 4, args: { data: 1000, bins: 256 } },
  },
  ({ data, bins }, gpu) => {
    const counts = gpu.shared(atomic(u32), 256);
    const i = gpu.globalId.x;
    counts.set(gpu.localIndex, 0);
    gpu.barrier();
    gpu.if(i.lt(data.length), () => {
      const word = data.get(i);
      for (let byte = 0; byte < 4; byte++) counts.add(word.shr(8 * byte).and(255), 1);
    });
    gpu.barrier();
    bins.add(gpu.localIndex, counts.get(gpu.localIndex));
  },
);

const SCANNED = 256;

/** sums[i] = the elements of x up to i, added up within each 256 of them. */
export const scan = kernel(
  "scan",
  {
    params: { x: buffer(u32), sums: buffer(u32, "write") },
    workgroup: [SCANNED],
    example: { workgroups: 3, args: { x: 700, sums: 700 } },
  },
  ({ x, sums }, gpu) => {
    const i = gpu.globalId.x;
    const lane = gpu.localIndex;
    const partial = gpu.shared(u32, SCANNED);
    let mine = x.getOr(i, 0);
    for (let distance = 1; distance < SCANNED; distance *= 2) {
      partial.set(lane, mine);
      gpu.barrier();
      // A lane less than the distance is beyond every end once it wraps around.
      mine = mine.add(partial.getOr(lane.sub(distance), 0));
      gpu.barrier();
    }
    gpu.if(i.lt(sums.length), () => sums.set(i, mine));
  },
);

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

const RADIUS = 3;
const SPAN = 64;

/** y[i] = Σ weights[j]·x[i + j − 3]; outside x it is 0. Each workgroup reads its part of x and the halo once. */
export const convolution = kernel(
  "convolution",
  {
    params: { x: buffer(f32), weights: buffer(f32), y: buffer(f32, "write") },
    workgroup: [SPAN],
    example: { workgroups: 4, args: { x: 200, weights: 2 * RADIUS + 1, y: 200 } },
  },
  ({ x, weights, y }, gpu) => {
    const lane = gpu.localIndex;
    const i = gpu.globalId.x;
    const tile = gpu.shared(f32, SPAN + 2 * RADIUS);
    const first = gpu.workgroupId.x.mul(SPAN).toI32().sub(RADIUS);
    gpu.for({ from: lane, to: SPAN + 2 * RADIUS, step: SPAN }, (k) =>
      tile.set(k, x.getOr(first.add(k.toI32()), 0)),
    );
    gpu.barrier();
    const sum = gpu.var(f32, 0);
    for (let j = 0; j <= 2 * RADIUS; j++) sum.set(fma(tile.get(lane.add(j)), weights.get(j), sum.get()));
    gpu.if(i.lt(y.length), () => y.set(i, sum.get()));
  },
);
