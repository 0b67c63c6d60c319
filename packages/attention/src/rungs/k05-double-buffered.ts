import { exactly, memoryOf } from "@evolver/device";
import { keyValueBytes, type AttentionRung } from "./rung.ts";
import { k04 } from "./k04-conflict-free.ts";

export const k05: AttentionRung = {
  id: "k05",
  title: "Two buffers: the next tile is read while this one is used",
  idea: `Shared memory holds two tiles. Before a tile is used, every lane reads its part of the next one into registers;
after, it writes them to the other buffer. The reads take hundreds of cycles, and now there is work to do meanwhile. One
barrier per tile is enough: after it, all lanes are done with the tile that is overwritten next.`,
  point: { ...k04.point, pipeline: "double-buffered", depth: 2 },
  variants: {},
  claims: [
    {
      text: "one barrier per tile and two before the first: 4 per workgroup for two tiles, where k04 has 5",
      check: (counters) => exactly(counters("k05").barriers / counters("k05").workgroups, 4),
    },
    {
      text: "reads the K and V bytes of k04: only when they are read has changed",
      check: (counters) => exactly(keyValueBytes(counters("k05")) / keyValueBytes(counters("k04")), 1),
    },
    {
      text: "the price: every workgroup writes one tile of zeros to shared memory that is never used",
      check: (counters) => {
        const written = (rung: string): number => memoryOf(counters(rung), "k_tile").writeBytes;
        const tile = 32 * 64 * 4;
        return exactly((written("k05") - written("k04")) / counters("k05").workgroups / tile, 1);
      },
    },
  ],
  found: `The counters do not show the overlap, only its cost: 58,624 arithmetic instructions instead of 44,800, since rows
that may not exist are now selected one by one instead of skipped together; and twice the tiles in shared memory, so that a
multiprocessor holds fewer workgroups. So the rung gains overlap within a workgroup and loses overlap between workgroups; only a
measurement can say which is worth more.`,
};
