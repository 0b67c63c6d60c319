import { elementBytes, min, u32 } from "@evolver/kernel";
import type { U32 } from "@evolver/kernel";
import type { QueueSymbols } from "../../params.ts";
import type { Schedule, Tiling } from "./schedule.ts";

/** The bytes that K and V of the heads in progress may take, to stay in a second-level cache; FlashAttention-3's number. */
const CACHE_BYTES = 32 * 1024 * 1024;

/**
 * A fixed number of workgroups. Each takes tiles from a counter until there are none, so a workgroup that is done early
 * takes more.
 *
 * Each workgroup adds to the counter once more than it gets tiles. So the counter ends at tiles + workgroups. The
 * workgroup that adds last sees this and sets the counter back to zero, for the next launch.
 */
export const persistent: Schedule = {
  sharedBytes: elementBytes("u32"),
  scratch: [{ name: "tiles", element: "u32", length: 1 }],
  scalars: (tiling) => ({
    tileCount: tiling.heads * tiling.headTiles,
    tileHeads: tiling.heads,
    sectionHeads: sectionHeads(tiling),
  }),
  workgroups: (tiles, most) => Math.min(tiles, most),
  forEachTile(gpu, symbols, longestFirst, compute) {
    const queue = symbols as QueueSymbols;
    const { tiles, tileCount } = queue;
    const asker = gpu.localIndex.eq(0);
    const answer = gpu.shared(u32, 1, "answer");
    const taken = gpu.var(u32, 0, "taken");
    // The barriers of the uniform load also separate one tile's last use of shared memory from the next tile's first.
    const take = (): void => {
      gpu.if(asker, () => answer.set(0, tiles.add(0, 1)));
      taken.set(gpu.uniformLoad(answer, 0));
    };
    take();
    gpu.while(
      () => taken.get().lt(tileCount),
      () => {
        compute(longestFirst ? lastTilesFirst(taken.get(), queue) : taken.get());
        take();
      },
    );
    const isLast = taken.get().eq(tileCount.add(gpu.numWorkgroups.x).sub(1));
    gpu.if(asker.and(isLast), () => tiles.set(0, 0));
  },
};

/**
 * The last tiles of all heads of a section first, then those before them: under a causal mask the last tiles are the
 * longest, and a long tile that starts late delays the end. Section by section, so that K and V stay in the cache.
 */
function lastTilesFirst(index: U32, { headTiles, tileHeads, sectionHeads: heads }: QueueSymbols): U32 {
  const firstHead = index.divTrunc(heads.mul(headTiles)).mul(heads);
  const place = index.sub(firstHead.mul(headTiles));
  const present = min(heads, tileHeads.sub(firstHead));
  const head = firstHead.add(place.remTrunc(present));
  return head.mul(headTiles).add(headTiles.sub(1)).sub(place.divTrunc(present));
}

/** As many heads as the cache holds K and V for, at least those that share a key head. */
function sectionHeads({ shape, heads }: Tiling): number {
  const keyHeads = shape.batch * shape.headsKv;
  if (heads === 0) return 1;
  const bytes = 2 * shape.seqK * shape.dim * elementBytes("f32");
  const held = Math.max(1, Math.floor(CACHE_BYTES / Math.max(1, bytes)));
  return Math.min(heads, held * (heads / keyHeads));
}
