import type { Lesson } from "@evolver/guide";

export const k10: Lesson = {
  slow: `k08 reads each key head once per query head, and k09 starts a workgroup for each tile.`,
  folklore: `"Improvements multiply": an optimisation for decoding and one for load balance must be better together.`,
  questions: [
    {
      question:
        "Six sequences decode with eight query heads on two key heads. How many tiles are there, packed and not?",
      answer: `Packed, one tile per sequence and key head: 6 · 2 = 12. By index, one per sequence and query head: 6 · 8 = 48. Either
way a tile has eight rows; packed, four of them exist, by index one.`,
    },
    {
      question: "Check the count of barriers: 5 workgroups, 12 tiles, two tiles of keys each. Why 70?",
      answer: `With a ring of two, a tile of queries takes three: one after the queries and one for each tile of keys. That is 36 for
12 tiles. There are 12 + 5 requests to the counter, at two barriers each: 34.`,
    },
    {
      question: "Why does a persistent launch have so little to balance in decoding?",
      answer: `There are as many tiles as sequences times key heads, often fewer than the card holds workgroups. Then each workgroup
gets at most one tile. The queue only matters when the batch is large, or sequences differ in length.`,
    },
    {
      question: "A single sequence of 100,000 keys is decoded on a large card. What would you do instead?",
      answer: `Split the keys over workgroups, so that all multiprocessors read K and V, and combine the parts: flash decoding. No rung
of this ladder does that. Here one workgroup for each key head would loop over all keys, and memory would be mostly idle.`,
    },
    {
      question:
        "Two workgroups saw different keys of the same row: maxima m1, m2, sums l1, l2, unnormalised outputs o1, o2. Combine them.",
      answer: `m = max(m1, m2); a1 = exp(m1 − m), a2 = exp(m2 − m); the output is (a1 · o1 + a2 · o2) / (a1 · l1 + a2 · l2). It is the
same rescaling as from one group of keys to the next. A part that saw no key has l = 0 and must add nothing; where both parts
are empty, the output is 0.`,
    },
  ],
};
