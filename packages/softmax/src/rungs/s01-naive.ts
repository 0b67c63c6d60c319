import { exactly, memoryOf, SECTOR_BYTES } from "@evolver/device";
import type { RowRung } from "./rung.ts";

export const s01: RowRung = {
  id: "s01",
  title: "Naive: one invocation per row, three passes",
  idea: `An invocation walks its row three times: for the largest element, for the sum of exponentials relative to that,
and to write the quotients. Nobody has to talk to anybody. But neighbouring lanes are in neighbouring rows, so what they
read at the same time lies a row apart.`,
  point: { reader: "invocation", subgroups: 1, vector: 1, passes: "three" },
  variants: {},
  claims: [
    {
      text: "every element is read three times",
      check: (counters) => exactly(memoryOf(counters("s01"), "x").readBytes / (64 * 256 * 4), 3),
    },
    {
      text: "each element read costs a sector of its own: 8 bytes of sectors for each byte asked for",
      check: (counters) => {
        const { readSectors, readBytes } = memoryOf(counters("s01"), "x");
        return exactly((readSectors * SECTOR_BYTES) / readBytes, 8);
      },
    },
  ],
  found: "",
};
