import { TileRange, type PipelineMaker } from "./pipeline.ts";
import type { TileCopies } from "../stage/stage.ts";

/**
 * Asynchronous copies into a ring of slots: while one tile is used, the next ones are on their way, no register holds
 * them and no invocation waits for them. With a single slot the copy is asynchronous but awaited at once.
 */
export const ring: PipelineMaker = (gpu, { slots, slotBytes }) => ({
  run(stage, range, { start, use, finish }) {
    const { start: startCopy } = stage.copies as TileCopies;
    const tiles = new TileRange(range, stage.keyRows);
    const ahead = Math.max(1, slots - 1);
    /** A tile beyond the last is an empty group, so that groups can be counted. */
    const copy = (i: Parameters<TileRange["at"]>[0]): void => {
      const { base, count } = tiles.at(i);
      const slot = typeof i === "number" ? i % slots : slots === 1 ? 0 : i.remTrunc(slots);
      gpu.if(count.gt(0), () => startCopy(base, count, slot));
      gpu.copies.commit({ bytes: slotBytes });
    };
    start();
    if (slots > 1) for (let i = 0; i < ahead; i++) copy(i);
    gpu.for({ from: 0, to: tiles.count }, (i) => {
      if (slots === 1) copy(i);
      gpu.copies.await(ahead - 1);
      gpu.barrier();
      // The slot of the previous tile: all lanes are done with it.
      if (slots > 1) copy(i.add(ahead));
      const { base, count } = tiles.at(i);
      use(stage.tile(base, count, slots === 1 ? 0 : i.remTrunc(slots)));
      if (slots === 1) gpu.barrier();
    });
    finish();
  },
});
