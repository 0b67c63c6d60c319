/**
 * Inclusive sums along a tile that a team holds in registers. Each subgroup has a run of the tile, in which vector k of all lanes
 * comes before vector k + 1 of the first: so the lanes read neighbours.
 */

import { f32, select, type Bool, type F32, type Gpu, type U32 } from "@evolver/kernel";
import type { TeamKind } from "./team.ts";
import { readVector, writeVector, type Reach, type Readable, type Width, type Writable } from "./vectors.ts";

/** Elements of a tile. */
export const tileLength = (lanes: number, { width, loads }: Reach): number => lanes * width * loads;

/** A part of a buffer with a tile in it. */
export interface Stretch {
  /** The place of the tile's first element. */
  readonly start: U32;
  /** Elements there are from it on; what is beyond the tile does not count. */
  readonly left: U32;
  /** Whether vectors begin at multiples of their width and the end cuts none, the same for all invocations. True if absent. */
  isWhole?(): Bool;
}

/** The part of a buffer of n elements with a tile that starts at a multiple of every width. */
export const stretchOf = (n: U32, start: U32, length: number): Stretch => {
  const left = n.sub(start);
  return { start, left, isWhole: () => left.ge(length).or(n.and(3).eq(0)) };
};

/** A tile, read. */
export interface Tile {
  /** Inclusive sums within the run of this subgroup. */
  readonly sums: readonly (readonly F32[])[];
  /** Where each vector lies in the tile. */
  readonly places: readonly U32[];
  /** The sum of the tile before this subgroup's run, and of all of it. */
  readonly before: F32;
  readonly total: F32;
}

/** Reads a tile and adds up. All invocations of the team take part. */
export function scanTile(gpu: Gpu, team: TeamKind, from: Readable, stretch: Stretch, reach: Reach): Tile {
  const { width, loads } = reach;
  const size = gpu.subgroupSize;
  const run = team === "subgroup" ? null : gpu.subgroupId.mul(tileLength(size, reach));
  const places = Array.from({ length: loads }, (_, k) => {
    const place = gpu.lane.add(k * size).mul(width);
    return run === null ? place : run.add(place);
  });
  const values = readPlaces(gpu, from, stretch, places, width);
  const own = values.map((vector) => {
    const sums: F32[] = [];
    for (const value of vector) sums.push(sums.length === 0 ? value : (sums.at(-1) as F32).add(value));
    return sums;
  });
  const upTo = own.map((sums) => gpu.subgroup.inclusiveSum(sums.at(-1) as F32));
  let carry = gpu.constant(f32, 0);
  const sums = own.map((vector, k) => {
    const all = upTo[k] as F32;
    const below = gpu.subgroup.shuffleUp(all, 1);
    const before = carry.add(select(gpu.lane.eq(0), 0, below));
    carry = carry.add(gpu.subgroup.broadcast(all, size - 1));
    return vector.map((sum) => before.add(sum));
  });
  if (team === "subgroup") return { sums, places, before: gpu.constant(f32, 0), total: carry };
  return { sums, places, ...acrossRuns(gpu, carry) };
}

/** The sum of the runs before this subgroup's, and of all of them. */
function acrossRuns(gpu: Gpu, own: F32): { before: F32; total: F32 } {
  const { numSubgroups, subgroupId, lane } = gpu;
  const runs = gpu.shared(f32, numSubgroups);
  // The last tile's sums have been read.
  gpu.barrier();
  gpu.if(lane.eq(0), () => runs.set(subgroupId, own));
  gpu.barrier();
  let [before, total] = [gpu.constant(f32, 0), gpu.constant(f32, 0)];
  for (let run = 0; run < numSubgroups; run++) {
    const sum = runs.get(run);
    before = before.add(select(subgroupId.gt(run), sum, 0));
    total = total.add(sum);
  }
  return { before, total };
}

/** What is at some places of a stretch, `width` elements each, and zeros beyond its end. */
function readPlaces(
  gpu: Gpu,
  from: Readable,
  { start, left, isWhole }: Stretch,
  places: readonly U32[],
  width: Width,
): readonly (readonly F32[])[] {
  const read = (place: U32, count: Width): F32[] => {
    const inside = place.lt(left);
    const values = readVector(from, start.add(select(inside, place, 0)), count);
    return values.map((value) => select(inside, value, 0));
  };
  const vectors = (): F32[] => places.flatMap((place) => read(place, width));
  const singles = (): F32[] =>
    places.flatMap((place) => Array.from({ length: width }, (_, k) => read(place.add(k), 1)).flat());
  const all = isWhole === undefined || width === 1 ? vectors() : gpu.if(isWhole(), vectors, singles);
  return places.map((_, k) => all.slice(k * width, (k + 1) * width));
}

/** Writes a tile's sums, with something added to each. */
export function writeTile(gpu: Gpu, tile: Tile, to: Writable, stretch: Stretch, add: F32): void {
  const { start, left, isWhole } = stretch;
  const before = add.add(tile.before);
  const write = (place: U32, values: readonly F32[]): void =>
    gpu.if(place.lt(left), () => writeVector(to, start.add(place), values));
  const results = tile.sums.map((vector) => vector.map((sum) => before.add(sum)));
  const vectors = (): void => tile.places.forEach((place, k) => write(place, results[k] as readonly F32[]));
  const singles = (): void =>
    tile.places.forEach((place, k) =>
      (results[k] as readonly F32[]).forEach((value, i) => write(place.add(i), [value])),
    );
  if (isWhole === undefined || tile.sums[0]?.length === 1) vectors();
  else gpu.if(isWhole(), vectors, singles);
}
