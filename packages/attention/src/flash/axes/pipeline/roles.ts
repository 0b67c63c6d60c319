import { u32 } from "@evolver/kernel";
import type { Gpu } from "@evolver/kernel";
import type { Geometry } from "../../geometry.ts";
import type { UIndex } from "../../runs.ts";
import type { TileCopies } from "../stage/stage.ts";
import { TileRange, type Pipeline, type PipelineMaker } from "./pipeline.ts";

/** Subgroups that copy and do not compute. */
export const PRODUCERS = 2;

/**
 * Some subgroups only copy, the others only compute. Where subgroups can wait for each other, they synchronise through
 * two phase barriers per slot of the ring. Elsewhere both roles run in one loop with one barrier per tile, and the
 * copies are one tile ahead.
 */
export const roles: PipelineMaker = (gpu, geometry) =>
  gpu.forwardProgress ? waiting(gpu, geometry) : inStep(gpu, geometry);

function waiting(gpu: Gpu, { slots, slotBytes, producers, subgroups, subgroup }: Geometry): Pipeline {
  const ring = gpu.pipeline({
    stages: slots,
    producers: producers * subgroup,
    // One lane of each subgroup arrives for the whole subgroup.
    consumers: subgroups,
    bytes: slotBytes,
    name: "kv",
  });
  /** Tiles of keys so far, over all tiles of queries, because the phases of the barriers are never reset. */
  const done = gpu.var(u32, 0, "done");
  return {
    run(stage, range, { start, use, finish }) {
      const copies = stage.copies as TileCopies;
      const tiles = new TileRange(range, stage.keyRows);
      const before = done.get();
      const produce = (): void =>
        gpu.for({ from: 0, to: tiles.count }, (i) => {
          const { base, count } = tiles.at(i);
          const n = before.add(i);
          ring.acquire(n);
          copies.start(base, count, ring.slot(n));
          ring.commit(n);
        });
      const consume = (): void => {
        start();
        gpu.for({ from: 0, to: tiles.count }, (i) => {
          const { base, count } = tiles.at(i);
          const n = before.add(i);
          ring.wait(n);
          use(stage.tile(base, count, ring.slot(n)));
          gpu.subgroup.barrier();
          gpu.if(gpu.lane.eq(0), () => ring.release(n));
        });
        finish();
      };
      gpu.roles([
        { name: "producer", subgroups: producers, body: produce },
        { name: "consumer", subgroups, body: consume },
      ]);
      done.set(before.add(tiles.count));
    },
  };
}

function inStep(gpu: Gpu, { slots, producers, subgroups }: Geometry): Pipeline {
  return {
    run(stage, range, { start, use, finish }) {
      const copies = stage.copies as TileCopies;
      const tiles = new TileRange(range, stage.keyRows);
      const ahead = Math.min(slots, 2) - 1;
      const slotOf = (i: UIndex): UIndex =>
        typeof i === "number" ? i % slots : slots === 1 ? 0 : i.remTrunc(slots);
      const produce = (i: UIndex): void => {
        const { base, count } = tiles.at(i);
        copies.copy(base, count, slotOf(i));
      };
      const consume = (i: UIndex): void => {
        const { base, count } = tiles.at(i);
        use(stage.tile(base, count, slotOf(i)));
      };
      const play = (producer: () => void, consumer: () => void): void =>
        gpu.roles([
          { name: "producer", subgroups: producers, body: producer },
          { name: "consumer", subgroups, body: consumer },
        ]);
      start();
      if (ahead > 0)
        play(
          () => produce(0),
          () => {},
        );
      gpu.barrier();
      gpu.for({ from: 0, to: tiles.count }, (i) => {
        if (ahead === 0) {
          play(
            () => produce(i),
            () => {},
          );
          gpu.barrier();
        }
        play(
          () => {
            if (ahead > 0) gpu.if(i.add(1).lt(tiles.count), () => produce(i.add(1)));
          },
          () => consume(i),
        );
        gpu.barrier();
      });
      play(() => {}, finish);
    },
  };
}
