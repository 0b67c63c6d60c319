import { atMost, exactly, memoryOf } from "@evolver/device";
import { conflictDegree, keyValueBytes, type AttentionRung } from "./rung.ts";
import { k02 } from "./k02-shared-tiles.ts";

export const k03: AttentionRung = {
  id: "k03",
  title: "Eight query rows share each tile",
  idea: `A workgroup of eight subgroups takes eight query rows. All subgroups copy each tile together, and then each
uses all of it for its own row: each element read from global memory is used eight times.`,
  point: { ...k02.point, queryRows: 8 },
  variants: {},
  claims: [
    {
      text: "reads at most 1/7 of the K and V bytes of k02",
      check: (counters) => atMost(keyValueBytes(counters("k03")) / keyValueBytes(counters("k02")), 1 / 7),
    },
    {
      text: "reads of the K tile have 8-way bank conflicts: rows are 64 words, a multiple of the 32 banks, apart",
      check: (counters) => exactly(conflictDegree(counters("k03"), "k_tile"), 8),
    },
    {
      text: "reads of the V tile have no bank conflict: there lanes are neighbours",
      check: (counters) => exactly(memoryOf(counters("k03"), "v_tile").conflicts, 0),
    },
  ],
  found: `This is the rung that pays: 278,528 bytes from global memory instead of 2,113,536, and since the copies are
shared too, 44,800 arithmetic instructions instead of 80,128. It does not change the reads of shared memory: every row still
reads all of each tile, with the 57,344 conflicts of k02. "Shared tiles have bank conflicts" is true of K only:
neighbouring lanes read V at neighbouring addresses, so no layout could improve it, and none is applied to it.`,
};
