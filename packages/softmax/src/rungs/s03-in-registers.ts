import { atMost, exactly, memoryOf } from "@evolver/device";
import type { RowRung } from "./rung.ts";

export const s03: RowRung = {
  id: "s03",
  title: "In registers: read once, 16 bytes per lane",
  idea: `A row of some thousand elements fits into the registers of a subgroup. Each lane reads its part once, four
neighbouring elements at a time, and everything else happens in registers. The exponentials are kept, too.`,
  point: { reader: "subgroup", subgroups: 4, vector: 4, passes: "one" },
  variants: {},
  claims: [
    {
      text: "every element is read once",
      check: (counters) => exactly(memoryOf(counters("s03"), "x").readBytes / (64 * 256 * 4), 1),
    },
    {
      text: "in 1/12 of the reads of s02: a third of the elements, four at a time",
      check: (counters) =>
        exactly(
          memoryOf(counters("s03"), "x").readRequests / memoryOf(counters("s02"), "x").readRequests,
          1 / 12,
        ),
    },
    {
      text: "global memory brings and takes at most half of the sectors of s02",
      check: (counters) => atMost(counters("s03").globalSectors / counters("s02").globalSectors, 1 / 2),
    },
    {
      text: "each exponential is computed once, not twice: 9/17 of the special functions, with one division per lane in both",
      check: (counters) => exactly(counters("s03").specials / counters("s02").specials, 9 / 17),
    },
  ],
  found: "",
};
