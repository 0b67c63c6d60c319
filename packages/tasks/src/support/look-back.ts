/**
 * A scan of all elements that reads each once. A workgroup takes the next tile, tells what it adds up to, and looks back at what is told
 * of tiles and groups of tiles before it. Sums are their own flags: a place holds EMPTY until its sum is there, so nothing has to
 * be ordered.
 */

import {
  atomic,
  buffer,
  f32,
  kernel,
  select,
  u32,
  type Bool,
  type F32,
  type Gpu,
  type U32,
} from "@evolver/kernel";
import { scanTile, stretchOf, tileLength, writeTile } from "./scan.ts";

/** The bits of a NaN, which no sum keeps. */
const EMPTY = 0xffff_ffff;
const OTHER_NAN = 0x7fff_ffff;

const encoded = (sum: F32): U32 => {
  const bits = sum.bitcast(u32);
  return select(bits.eq(EMPTY), OTHER_NAN, bits);
};

/**
 * state[0] counts tiles that were taken; then come the sums of tiles, the sums of groups of as many tiles as a subgroup has lanes, and
 * the sums of all up to the end of a group.
 */
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
    const length = tileLength(choices.threads, choices);
    gpu.if(tile.lt(tiles), () => {
      const stretch = stretchOf(n, tile.mul(length), length);
      const scanned = scanTile(gpu, "workgroup", x, stretch, choices);
      const before = gpu.shared(f32, 1);
      gpu.if(gpu.subgroupId.eq(0), () => {
        const sum = sumBefore(gpu, { tile, tiles, told }, scanned.total);
        gpu.if(gpu.lane.eq(0), () => before.set(0, sum));
      });
      gpu.barrier();
      writeTile(gpu, scanned, y, stretch, before.get(0));
    });
  },
);

/** A tile among all, and what is told of tiles. */
interface Place {
  readonly tile: U32;
  readonly tiles: U32;
  readonly told: Told;
}

interface Told {
  get(index: U32): U32;
  set(index: U32, bits: U32): void;
}

/** The sum of all tiles before one, by a subgroup, which tells its tile's sum first. */
function sumBefore(gpu: Gpu, { tile, tiles, told }: Place, total: F32): F32 {
  const { lane, subgroupSize } = gpu;
  const group = tile.divTrunc(subgroupSize);
  const member = tile.remTrunc(subgroupSize);
  const groups = tiles.add(subgroupSize - 1).divTrunc(subgroupSize);
  const tell = (index: U32, sum: F32): void => gpu.if(lane.eq(0), () => told.set(index, encoded(sum)));
  const sumOfTile = (of: U32): U32 => of.add(1);
  const sumOfGroup = (of: U32): U32 => of.add(tiles).add(1);
  const sumUpTo = (of: U32): U32 => of.add(tiles).add(groups).add(1);
  tell(sumOfTile(tile), total);

  // The tiles of its own group: each lane waits for one.
  const isEarlier = lane.lt(member);
  const sum = gpu.var(u32, 0);
  const look = (): void => sum.set(told.get(sumOfTile(select(isEarlier, tile.sub(member).add(lane), tile))));
  look();
  gpu.while(() => gpu.subgroup.any(isEarlier.and(sum.get().eq(EMPTY))), look);
  const earlier = select(isEarlier, sum.get().bitcast(f32), 0);
  const within = gpu.subgroup.sum(earlier);
  const ofGroup = gpu.subgroup.sum(select(lane.eq(member), total, earlier));
  const isLast = member.eq(subgroupSize - 1);
  gpu.if(isLast, () => tell(sumOfGroup(group), ofGroup));

  const upToGroup = sumOfGroupsBefore(gpu, group, {
    of: (one) => told.get(sumOfGroup(one)),
    upTo: (one) => told.get(sumUpTo(one)),
  });
  gpu.if(isLast, () => tell(sumUpTo(group), upToGroup.add(ofGroup)));
  return upToGroup.add(within);
}

/**
 * The sum of all groups before one. Each lane looks at one of as many groups, until one of them knows the sum up to its end and the
 * nearer ones their own. These are added in order, as the groups themselves do: so the result does not depend on who was ready when.
 */
function sumOfGroupsBefore(
  gpu: Gpu,
  group: U32,
  { of, upTo }: { of(group: U32): U32; upTo(group: U32): U32 },
): F32 {
  const { lane, subgroupSize } = gpu;
  const exists = lane.lt(group);
  // Before the first group there is nothing, which is known.
  const at = select(exists, group.sub(1).sub(lane), 0);
  const all = gpu.var(u32, 0);
  const own = gpu.var(u32, 0);
  const nearest = gpu.var(u32, 0);
  const look = (): void => {
    all.set(select(exists, upTo(at), 0));
    own.set(of(at));
    nearest.set(gpu.subgroup.min(select(all.get().ne(EMPTY), lane, gpu.constant(u32, subgroupSize))));
  };
  look();
  const isMissing = (): Bool =>
    select(lane.lt(nearest.get()), own.get(), 0).eq(EMPTY).or(nearest.get().eq(subgroupSize));
  gpu.while(() => gpu.subgroup.any(isMissing()), look);
  const from = nearest.get();
  const sum = gpu.var(f32, gpu.subgroup.shuffle(all.get().bitcast(f32), from));
  gpu.for({ from: 0, to: from }, (done) =>
    sum.add(gpu.subgroup.shuffle(own.get().bitcast(f32), from.sub(1).sub(done))),
  );
  return sum.get();
}
