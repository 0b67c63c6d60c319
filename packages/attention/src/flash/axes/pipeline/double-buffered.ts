import { TileRange, type PipelineMaker } from "./pipeline.ts";
import type { TileCopies } from "../stage/stage.ts";

/**
 * Two slots of shared memory and one barrier per tile: the next tile is read into registers before the present one is
 * used, and written to the other slot after. The reads are under way while lanes compute.
 */
export const doubleBuffered: PipelineMaker = (gpu) => ({
  run(stage, range, { start, use, finish }) {
    const copies = stage.copies as TileCopies;
    const tiles = new TileRange(range, stage.keyRows);
    const first = tiles.at(0);
    copies.copy(first.base, first.count, 0);
    start();
    gpu.barrier();
    gpu.for({ from: 0, to: tiles.count }, (i) => {
      const slot = i.and(1);
      const { base, count } = tiles.at(i);
      const next = tiles.at(i.add(1));
      const write = copies.fetch(next.base, next.count);
      use(stage.tile(base, count, slot));
      write(slot.xor(1));
      gpu.barrier();
    });
    finish();
  },
});
