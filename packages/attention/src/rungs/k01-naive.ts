import { exactly, memoryOf, SECTOR_BYTES } from "@evolver/device";
import { keyValueBytes, type AttentionRung } from "./rung.ts";

const ROW_BYTES = 64 * 64 * 4;

export const k01: AttentionRung = {
  id: "k01",
  title: "Naive: one subgroup per query row, K and V from global memory",
  idea: `Softmax is computed online: keys come in groups of one per lane, each group's scores are turned into
probabilities relative to the largest score so far, and earlier sums are rescaled when that score grows. So the
S × S matrix of scores never exists in memory. A workgroup is one subgroup with one query row. For the scores each lane
takes one key and loops over the head dimension; for the output each lane takes columns and loops over the keys.`,
  point: {
    stage: "global",
    queryRows: 1,
    rowsPerSubgroup: 1,
    rowLanes: 1,
    keyRows: 32,
    keysPerLane: 1,
    layout: "row-major",
    vector: 4,
    unroll: 4,
    exchange: "shuffle",
    masking: "everywhere",
    pipeline: "synchronous",
    depth: 1,
    schedule: "one workgroup per tile",
    heads: "by index",
  },
  variants: {},
  claims: [
    {
      text: "every query row reads all of K and V: 64 rows, 64 times their size",
      check: (counters) => exactly(keyValueBytes(counters("k01")) / (2 * ROW_BYTES), 64),
    },
    {
      text: "reads of K, a row apart from lane to lane, touch 2 bytes of sectors for each byte requested",
      check: (counters) => {
        const { readSectors, readBytes } = memoryOf(counters("k01"), "k");
        return exactly((readSectors * SECTOR_BYTES) / readBytes, 2);
      },
    },
    {
      text: "reads of V, where lanes are neighbours, touch each sector once",
      check: (counters) => {
        const { readSectors, readBytes } = memoryOf(counters("k01"), "v");
        return exactly((readSectors * SECTOR_BYTES) / readBytes, 1);
      },
    },
  ],
  found: `"Uncoalesced" does not mean that more bytes are requested: K and V are both requested once per row, 1,048,576 bytes
each. But a lane's four elements of K are half of a 32-byte sector, and the sector is fetched again for the next four: K costs
65,536 sectors, V 32,768. A cache that keeps the sector until then hides the difference.`,
};
