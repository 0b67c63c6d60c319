import { exactly, memoryOf } from "@evolver/device";
import { keyValueBytes, type AttentionRung } from "./rung.ts";
import { k04 } from "./k04-conflict-free.ts";

export const k06: AttentionRung = {
  id: "k06",
  title: "A ring of asynchronous copies",
  idea: `The copies go from global to shared memory by themselves: an invocation starts them, closes a group, and later
waits until all but its youngest groups have arrived. No register holds data in flight, and a ring of n tiles has up to
n − 1 of them in flight. CUDA has cp.async for this; on a target without it, the same program copies at once.`,
  point: { ...k04.point, pipeline: "ring", depth: 2 },
  variants: {
    "depth 1": { ...k04.point, pipeline: "ring", depth: 1 },
    "depth 3": { ...k04.point, pipeline: "ring", depth: 3 },
    "depth 4": { ...k04.point, pipeline: "ring", depth: 4 },
  },
  claims: [
    {
      text: "all of K and V comes by asynchronous copies of 16 bytes per lane: 512 bytes each, of 32 lanes",
      check: (counters) => exactly(keyValueBytes(counters("k06")) / counters("k06").asyncCopies, 512),
    },
    {
      text: "one barrier per tile and one for the queries: 3 per workgroup for two tiles, where k05 has 4 and k04 has 5",
      check: (counters) => exactly(counters("k06").barriers / counters("k06").workgroups, 3),
    },
    {
      text: "no unused tile is written: shared memory is written as often as in k04",
      check: (counters) => {
        const written = (rung: string): number => memoryOf(counters(rung), "k_tile").writeBytes;
        return exactly(written("k06") / written("k04"), 1);
      },
    },
    {
      text: "a ring of one has as many barriers as k04",
      check: (counters) => exactly(counters("k06 depth 1").barriers / counters("k04").barriers, 1),
    },
    {
      text: "a ring of four saves no byte, copy or barrier over a ring of two",
      check: (counters) => {
        const sum = (rung: string): number => {
          const { globalReadBytes, sharedWriteBytes, asyncCopies, barriers } = counters(rung);
          return globalReadBytes + sharedWriteBytes + asyncCopies + barriers;
        };
        return exactly(sum("k06 depth 4") / sum("k06"), 1);
      },
    },
  ],
  found: `Asynchronous copies need neither k05's registers nor its selects: 8,960 memory instructions instead of 9,344 in
k04, where each copied run is a load and a store, and 53,440 arithmetic ones instead of k05's 58,624. A deeper ring saves
nothing that the counters show: two, three and four slots copy the same bytes with the same barriers. With more slots a copy
may take longer before a lane has to wait for it, at 16,896 bytes of shared memory per slot.`,
};
