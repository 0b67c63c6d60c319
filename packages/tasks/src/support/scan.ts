/**
 * Inclusive sums along a tile that a team holds in registers. Each subgroup has a run of the tile, in which vector k of all lanes
 * comes before vector k + 1 of the first: so the lanes read neighbours.
 */

import { f32, select, type F32, type Gpu, type U32 } from "@evolver/kernel";
import type { TeamKind } from "./team.ts";
import { readVector, writeVector, type Reach, type Readable, type Writable } from "./vectors.ts";

/** Elements of a tile. */
export const tileLength = (lanes: number, { width, loads }: Reach): number => lanes * width * loads;

/** A part of a buffer with a tile in it. */
export interface Stretch {
  /** The place of the tile's first element. */
  readonly start: U32;
  /** Elements there are from it on; what is beyond the tile does not count. */
  readonly left: U32;
}

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
export function scanTile(
  gpu: Gpu,
  team: TeamKind,
  from: Readable,
  { start, left }: Stretch,
  reach: Reach,
): Tile {
  const { width, loads } = reach;
  const size = gpu.subgroupSize;
  const run = team === "subgroup" ? null : gpu.subgroupId.mul(tileLength(size, reach));
  const places = Array.from({ length: loads }, (_, k) => {
    const place = gpu.lane.add(k * size).mul(width);
    return run === null ? place : run.add(place);
  });
  const values = places.map((place) => {
    const inside = place.lt(left);
    const read = readVector(from, start.add(select(inside, place, 0)), width);
    return read.map((value) => select(inside, value, 0));
  });
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

/** Writes a tile's sums, with something added to each. */
export function writeTile(gpu: Gpu, tile: Tile, to: Writable, { start, left }: Stretch, add: F32): void {
  const before = add.add(tile.before);
  for (const [k, place] of tile.places.entries())
    gpu.if(place.lt(left), () =>
      writeVector(
        to,
        start.add(place),
        (tile.sums[k] as readonly F32[]).map((sum) => before.add(sum)),
      ),
    );
}
