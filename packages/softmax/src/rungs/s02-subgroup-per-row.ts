import { atMost, exactly, memoryOf, SECTOR_BYTES } from "@evolver/device";
import type { RowRung } from "./rung.ts";

export const s02: RowRung = {
  id: "s02",
  title: "A subgroup per row: neighbouring lanes read neighbouring elements",
  idea: `The lanes of a subgroup share a row, each with every 32nd element, and find maximum and sum together by exchanging
registers. What they read at the same time lies side by side, so that all of a sector is used.`,
  point: { reader: "subgroup", subgroups: 4, vector: 1, passes: "three" },
  variants: { online: { reader: "subgroup", subgroups: 4, vector: 1, passes: "two" } },
  claims: [
    {
      text: "every byte of a sector is used: 1 byte of sectors for each byte asked for",
      check: (counters) => {
        const { readSectors, readBytes } = memoryOf(counters("s02"), "x");
        return exactly((readSectors * SECTOR_BYTES) / readBytes, 1);
      },
    },
    {
      text: "global memory brings and takes at most 1/8 of the sectors of s01",
      check: (counters) => atMost(counters("s02").globalSectors / counters("s01").globalSectors, 1 / 8),
    },
    {
      text: "the elements are read as often as in s01: bytes asked for are the same",
      check: (counters) => exactly(counters("s02").globalReadBytes, counters("s01").globalReadBytes),
    },
    {
      text: "online, which finds maximum and sum in one pass, reads 2/3 of that",
      check: (counters) =>
        exactly(counters("s02 online").globalReadBytes / counters("s02").globalReadBytes, 2 / 3),
    },
  ],
  found: `Online softmax saves a pass over memory and pays with exponentials: each element's, once more when a larger one is
found, and again when it is written.`,
};
