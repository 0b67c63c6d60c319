/**
 * Inclusive sums along all elements, in several launches.
 *
 * By `launches`, the first launch adds up each tile, the second makes prefixes of these sums, and the third reads the tiles again. By
 * `look-back`, each element is read once: a workgroup adds what the tiles before its own have come to as they get ready (Merrill and
 * Garland 2016, "Single-pass parallel prefix scan with decoupled look-back").
 */

import { assertNever } from "@evolver/base";
import { buildPlan, tunable, type Plan, type PlanBuild } from "@evolver/device";
import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import { cumsumRows } from "./cumsum-rows.ts";
import { clear, lookBack } from "./support/look-back.ts";
import { scanTile, stretchOf, tileLength, writeTile } from "./support/scan.ts";
import { spread } from "./support/sweep.ts";

const reach = { threads: [128, 256, 512, 1024], width: [1, 2, 4], loads: [1, 2, 4, 8, 16] } as const;

/** sums[tile] = the sum of a tile. */
const tileSums = kernel(
  "tileSums",
  {
    params: { x: buffer(f32), sums: buffer(f32, "write"), n: u32, tiles: u32 },
    tune: reach,
    workgroup: ({ tune }) => [tune.threads],
  },
  ({ x, sums, n, tiles }, gpu, choices) => {
    const tile = gpu.workgroupIndex;
    const length = tileLength(choices.threads, choices);
    gpu.if(tile.lt(tiles), () => {
      const { total } = scanTile(gpu, "workgroup", x, stretchOf(n, tile.mul(length), length), choices);
      gpu.if(gpu.localIndex.eq(0), () => sums.set(tile, total));
    });
  },
);

/** y = the inclusive sums within each tile, and what the tiles before it have come to. */
const scanTiles = kernel(
  "scanTiles",
  {
    params: { x: buffer(f32), prefixes: buffer(f32), y: buffer(f32, "write"), n: u32, tiles: u32 },
    tune: reach,
    workgroup: ({ tune }) => [tune.threads],
  },
  ({ x, prefixes, y, n, tiles }, gpu, choices) => {
    // From the last tile on: its elements are those that the caches still have.
    const tile = tiles.sub(1).sub(gpu.workgroupIndex);
    const length = tileLength(choices.threads, choices);
    gpu.if(tile.lt(tiles), () => {
      const stretch = stretchOf(n, tile.mul(length), length);
      const scanned = scanTile(gpu, "workgroup", x, stretch, choices);
      writeTile(gpu, scanned, y, stretch, prefixes.getOr(tile.sub(1), 0));
    });
  },
);

export const prefixSum = tunable("prefixSum", {
  sizes: { n: 1 << 25 },
  tune: { way: ["launches", "look-back"], ...reach },
  variants: {
    fast: { way: "look-back", threads: 256, width: 4, loads: 8 },
    portable: { way: "launches", threads: 256, width: 4, loads: 8 },
  },
  plan({ n }, { way, ...choices }, build): Plan {
    const tiles = Math.ceil(n / tileLength(choices.threads, choices));
    const workgroups = spread(tiles);
    const length = 1 + tiles + 2 * Math.ceil(tiles / build.subgroup);
    const plan = buildPlan(build).input("x", f32, n).output("y", f32, n);
    switch (way) {
      case "launches":
        return plan
          .scratch("sums", f32, tiles)
          .scratch("prefixes", f32, tiles)
          .launch(tileSums.at(choices), { workgroups, args: { x: "x", sums: "sums", n, tiles } })
          .launch(cumsumRows.at({ threads: 256, loads: 8 }), {
            workgroups: 1,
            args: { x: "sums", y: "prefixes", rows: 1, columns: tiles },
          })
          .launch(scanTiles.at(choices), {
            workgroups,
            args: { x: "x", prefixes: "prefixes", y: "y", n, tiles },
          })
          .done();
      case "look-back":
        wantProgress(build);
        return plan
          .scratch("state", u32, length)
          .launch(clear, { workgroups: spread(Math.ceil(length / 256)), args: { state: "state", length } })
          .launch(lookBack.at(choices), { workgroups, args: { x: "x", y: "y", state: "state", n, tiles } })
          .done();
      default:
        return assertNever(way, "way");
    }
  },
  reference({ x }, _sizes, round) {
    let sum = 0;
    return { y: (x as Float64Array).map((value) => (sum = round(sum + value))) };
  },
  work: ({ n }) => ({ flops: n }),
});

function wantProgress({ forwardProgress }: PlanBuild): void {
  if (!forwardProgress) throw new Error("here workgroups cannot wait for each other");
}
