/**
 * A scan of all elements that reads each once. A workgroup takes the next tile, tells what it adds up to, and looks back over the
 * tiles before it until one of them knows the sum of all up to its end. Sums are their own flags: a place holds EMPTY until its
 * sum is there, so nothing has to be ordered.
 */

import { atomic, buffer, f32, kernel, select, u32, type F32, type Gpu, type U32 } from "@evolver/kernel";
import { scanTile, tileLength, writeTile } from "./scan.ts";
import { byWidth } from "./vectors.ts";

/** The bits of a NaN, which no sum keeps. */
const EMPTY = 0xffff_ffff;
const OTHER_NAN = 0x7fff_ffff;

const encoded = (sum: F32): U32 => {
  const bits = sum.bitcast(u32);
  return select(bits.eq(EMPTY), OTHER_NAN, bits);
};

/** state[0] counts tiles that were taken; then come the sums of tiles, then the sums up to the ends of tiles. */
const state = buffer(atomic(u32));

/** Before the scan: no tile is taken, and no sum known. */
export const clear = kernel(
  "clear",
  { params: { state, length: u32 }, workgroup: [256] },
  ({ state: told, length }, gpu) => {
    const i = gpu.workgroupIndex.mul(256).add(gpu.localIndex);
    gpu.if(i.lt(length), () => told.set(i, select(i.eq(0), gpu.constant(u32, 0), EMPTY)));
  },
);

export const lookBack = kernel(
  "lookBack",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), state, n: u32, tiles: u32 },
    tune: { threads: [128, 256, 512, 1024], width: [1, 2, 4], loads: [1, 2, 4, 8, 16] },
    workgroup: ({ tune }) => [tune.threads],
  },
  ({ x, y, state: told, n, tiles }, gpu, choices) => {
    const taken = gpu.shared(u32, 1);
    gpu.if(gpu.localIndex.eq(0), () => taken.set(0, told.add(0, 1)));
    const tile = gpu.uniformLoad(taken, 0);
    const start = tile.mul(tileLength(choices.threads, choices));
    gpu.if(tile.lt(tiles), () =>
      byWidth(gpu, n, choices, (fitting) => {
        const stretch = { start, left: n.sub(start) };
        const scanned = scanTile(gpu, "workgroup", x, stretch, fitting);
        const before = gpu.shared(f32, 1);
        gpu.if(gpu.subgroupId.eq(0), () => {
          const place = tile.add(1);
          const sums = { of: (at: U32) => told.get(at), upTo: (at: U32) => told.get(at.add(tiles)) };
          gpu.if(gpu.lane.eq(0), () => told.set(place, encoded(scanned.total)));
          const found = sumBefore(gpu, place, sums);
          gpu.if(gpu.lane.eq(0), () => {
            told.set(place.add(tiles), encoded(found.add(scanned.total)));
            before.set(0, found);
          });
        });
        gpu.barrier();
        writeTile(gpu, scanned, y, stretch, before.get(0));
      }),
    );
  },
);

/** What has been told of a tile. */
interface Told {
  of(place: U32): U32;
  upTo(place: U32): U32;
}

/** The sum of all tiles before one, by a subgroup: each lane looks at one of as many tiles. */
function sumBefore(gpu: Gpu, place: U32, told: Told): F32 {
  const { lane, subgroupSize } = gpu;
  const sum = gpu.var(f32, 0);
  // Places begin with 1, so that there is room for what lies before the first: zero, and known.
  const end = gpu.var(u32, place);
  gpu.while(
    () => end.get().gt(1),
    () => {
      const exists = end.get().gt(lane.add(1));
      const at = select(exists, end.get().sub(lane).sub(1), 1);
      const upTo = gpu.var(u32, 0);
      const own = gpu.var(u32, 0);
      const look = (): void => {
        upTo.set(select(exists, told.upTo(at), 0));
        own.set(told.of(at));
      };
      look();
      gpu.while(() => gpu.subgroup.any(upTo.get().eq(EMPTY).and(own.get().eq(EMPTY))), look);
      const knows = upTo.get().ne(EMPTY);
      const first = gpu.subgroup.min(select(knows, lane, gpu.constant(u32, subgroupSize)));
      const value = select(knows, upTo.get(), own.get()).bitcast(f32);
      sum.add(gpu.subgroup.sum(select(lane.le(first), value, 0)));
      const next = end.get().sub(subgroupSize);
      end.set(select(first.lt(subgroupSize).or(end.get().le(subgroupSize)), gpu.constant(u32, 1), next));
    },
  );
  return sum.get();
}
