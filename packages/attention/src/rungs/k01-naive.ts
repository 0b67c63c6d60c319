import { exactly, memoryOf } from "@evolver/device";
import { keyValueBytes, type Rung } from "./rung.ts";

const ROW_BYTES = 64 * 64 * 4;
const SECTOR_BYTES = 32;

export const k01: Rung = {
  id: "k01",
  title: "Naive: one subgroup a query row, K and V from global memory",
  idea: `Softmax is computed online: keys come in groups of one a lane, each group's scores are turned into
probabilities relative to the largest score so far, and what was summed before is rescaled when that grows. So the
S × S matrix of scores never exists in memory. A workgroup is one subgroup with one query row. For the scores a lane
takes a key and walks the head dimension; for the output a lane takes columns and walks the keys.`,
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
    schedule: "one workgroup a tile",
    heads: "by index",
  },
  variants: {},
  claims: [
    {
      text: "every query row reads all of K and V: 64 rows, 64 times their size",
      check: (counters) => exactly(keyValueBytes(counters("k01")) / (2 * ROW_BYTES), 64),
    },
    {
      text: "reads of K, a row apart from lane to lane, touch 2 bytes of sectors for each byte asked for",
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
  found: `"Uncoalesced" does not mean more bytes asked for: K and V are asked for equally, 1,048,576 bytes each. But a
lane's four elements are half a 32-byte sector, and the other half is fetched anew for the next four: K costs 65,536
sectors, V 32,768. A cache that keeps the sector until then hides the difference.`,
};
