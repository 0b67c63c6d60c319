import type { Lesson } from "@evolver/guide";

export const k12: Lesson = {
  slow: `k11 has 64 workgroups for 8 heads of 1,024 queries, and leaves half of 132 multiprocessors idle.`,
  folklore: `"A search finds what nobody would have thought of", or "a search only turns knobs". This one combined two things
that were on the ladder: k11's register tiles and more, smaller workgroups.`,
  questions: [
    {
      question: "Half the rows mean less reuse. How much less, and why not half?",
      answer: `For each column a lane reads r + c numbers and does r · c multiply-adds. Eight by eight that is 64 / 16 = 4 per number,
four by eight 32 / 12 = 2.67: two thirds. Only one side of the tile is halved; each query that is read still serves eight keys,
and each key now four rows instead of eight.`,
    },
    {
      question:
        "B1, H8, S1024 on 132 multiprocessors: how many workgroups do k11 and k12 have, and what does the counter do?",
      answer: `k11 has 8 · 1024 / 128 = 64, k12 has 8 · 1024 / 64 = 128, and there are 132 multiprocessors. So k12 keeps nearly all
of them busy and k11 half. As there are fewer tiles than multiprocessors, every workgroup gets one tile, asks once more, gets
none and ends. The counter costs two requests per workgroup and gains nothing.`,
    },
    {
      question:
        "Check the count of barriers: 3 workgroups, 4 tiles of queries, 2 tiles of keys each. Why 34?",
      answer: `Without a counter the tiles take 20: 5 each, one after the queries and two for each tile of keys. There are
4 + 3 = 7 requests to the counter, at two barriers each: 14.`,
    },
    {
      question:
        "How long is the tail under a causal mask? 32 heads, 8 tiles of 128 queries each, 132 multiprocessors.",
      answer: `Tile t of a head sees 2 · (t + 1) tiles of 64 keys: 2, 4, … 16, all together 32 · 72 = 2,304, or 17.5 per multiprocessor.
Head by head, long tiles start late, and the last workgroup is done after 28. With the longest first, the short ones fill the
gaps: 18, half a tile of keys more than the lower bound. 28 / 18 is 1.56.`,
    },
    {
      question: "The causal champion changed two axes at once. How would you find out which one pays?",
      answer: `Measure all four combinations (with and without the counter, shared memory or shuffles) on the same shape, in turns.
A search keeps what is faster and does not find out why. Its records help, though: among many trials some differ in one axis
alone.`,
    },
    {
      question: "A point written by hand is faster than the champion. Did the search fail?",
      answer: `It had about twenty trials in a space of many millions of combinations. A champion is the best point that was tried,
not the best there is. To improve on a known good kernel, start from it: a run may start from any rung (\`--from k11\`).`,
    },
    {
      question: "Why is the best point for 1,024 queries not the best for 16 heads of 4,096 in a batch of 4?",
      answer: `Then k11 has 4 · 16 · 4096 / 128 = 2,048 workgroups, all multiprocessors are busy either way, and reuse decides: the
larger tile reads shared memory less. The best tile depends on the shape, so no rung wins everywhere.`,
    },
  ],
};
