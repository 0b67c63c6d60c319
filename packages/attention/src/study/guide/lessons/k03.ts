import type { Lesson } from "@evolver/guide";

export const k03: Lesson = {
  slow: `k02 copies each tile for a single query row: K and V are read from global memory once per row.`,
  folklore: `"Tiling saves traffic in proportion to the tile", as if the number of keys in the tile mattered; and "eight times
fewer bytes make it eight times as fast".`,
  questions: [
    {
      question: "What saves bytes: more keys in a tile, or more query rows that share it?",
      answer: `The query rows. K and V are read once for each tile of queries, so R rows per workgroup divide their bytes by R.
The number of keys in the tile decides only how many barriers there are, and how much shared memory it needs.`,
    },
    {
      question: "All bytes read fall from 2,113,536 to 278,528. Why is that 7.6 times and not 8?",
      answer: `K and V fall exactly eightfold, from 2,097,152 to 262,144 bytes. The rest are the queries, 16,384 bytes, which
both rungs read once. The claim is about K and V for that reason.`,
    },
    {
      question: "What happens without the barrier after a tile is used? How would one notice?",
      answer: `A subgroup that is done early copies the next tile over the one that a slower subgroup still reads. Results are
wrong now and then, depending on timing; a test on one card may pass a thousand times. The simulator reports a race with both
lines under every schedule, since no barrier orders the two accesses.`,
    },
    {
      question: "How many query rows must share a tile before arithmetic is the limit instead of memory?",
      answer: `An element of K or V is 4 bytes and gives each row one multiplication and one addition: R rows make R / 2
operations per byte. A card with 67 TFLOP/s of float32 and 4.8 TB/s has 14 operations per byte, so 28 rows if each tile
came from memory. Caches lower that: other workgroups of the same head read the same tiles at about the same time.`,
    },
    {
      question: "Why not go on like this, with 64 rows in 64 subgroups?",
      answer: `A workgroup has at most 1,024 invocations, 32 subgroups of 32. More rows have to go into a subgroup, as rows that
a lane holds itself. That also lowers the reads of shared memory, which this rung leaves as they were: every row still reads
the whole tile. It is what k11 does.`,
    },
    {
      question: "What if the number of queries is not a multiple of eight?",
      answer: `The last tile has rows that do not exist. Their queries are zeros in shared memory. They are computed like the
others, and only the store is left out. So one query row costs as much as eight, which matters for decoding (k09).`,
    },
  ],
};
