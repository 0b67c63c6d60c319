import type { U32 } from "@evolver/kernel";
import { TileRange, type PipelineMaker } from "./pipeline.ts";
import type { TileCopies, TilePart } from "../stage/stage.ts";

/**
 * Asynchronous copies of half a tile: the values of a tile are copied while its keys are used, and the next tile's keys
 * while its values are used. So copies overlap with computing, though shared memory holds only one tile.
 */
export const staggered: PipelineMaker = (gpu) => ({
  run(stage, range, { start, score, accumulate, finish }) {
    const { start: startCopy } = stage.copies as TileCopies;
    const tiles = new TileRange(range, stage.keyRows);
    const copy = (i: U32 | number, part: TilePart): void => {
      const { base, count } = tiles.at(i);
      gpu.if(count.gt(0), () => startCopy(base, count, 0, part));
      gpu.copies.commit();
    };
    const arrive = (): void => {
      gpu.copies.await();
      gpu.barrier();
    };
    copy(0, "keys");
    start();
    gpu.for({ from: 0, to: tiles.count }, (i) => {
      const { base, count } = tiles.at(i);
      const tile = stage.tile(base, count, 0);
      arrive();
      copy(i, "values");
      score(tile);
      arrive();
      copy(i.add(1), "keys");
      accumulate(tile);
    });
    finish();
  },
});
