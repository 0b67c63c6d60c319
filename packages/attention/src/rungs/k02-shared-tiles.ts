import { exactly, memoryOf } from "@evolver/device";
import { keyValueBytes, type AttentionRung } from "./rung.ts";
import { k01 } from "./k01-naive.ts";

export const k02: AttentionRung = {
  id: "k02",
  title: "Tiles of K and V in shared memory",
  idea: `Thirty-two keys and their values at a time are copied to shared memory, with lanes along the head dimension,
and read from there. Rows past the end are zeros in the tile, so that nothing outside the tensors is ever read.`,
  point: { ...k01.point, stage: "shared" },
  variants: {},
  claims: [
    {
      text: "K and V are read from global memory as often as in k01: a tile with one user saves no byte",
      check: (counters) => exactly(keyValueBytes(counters("k02")) / keyValueBytes(counters("k01")), 1),
    },
    {
      text: "K is now read along its rows, which halves the sectors",
      check: (counters) =>
        exactly(memoryOf(counters("k02"), "k").readSectors / memoryOf(counters("k01"), "k").readSectors, 0.5),
    },
    {
      text: "the price: two barriers per tile and one for the query, 5 per row",
      check: (counters) => exactly(counters("k02").barriers / counters("k02").workgroups, 5),
    },
    {
      text: "the price: each element of K and V that is read from global memory is also written to shared memory, once",
      check: (counters) => {
        const written = (tile: string): number => memoryOf(counters("k02"), tile).writeBytes;
        return exactly((written("k_tile") + written("v_tile")) / keyValueBytes(counters("k02")), 1);
      },
    },
    {
      text: "1.5 bytes are read from shared memory for each byte of K and V: every byte of the tiles once, and for every byte of K one of the query",
      check: (counters) => exactly(counters("k02").sharedReadBytes / keyValueBytes(counters("k02")), 1.5),
    },
  ],
  found: `Shared memory by itself is no gain. As many bytes are read from global memory as before, since the one row of a
workgroup uses each key once. Only the sectors drop, from 99,328 to 66,560, because K is read along its rows. In return each
element is written and read once more: passes over the banks grow from 4,224 to 94,336, of which 57,344 are bank
conflicts that k01 cannot have. Arithmetic instructions grow from 72,256 to 80,128, for the addresses of the copies.`,
};
