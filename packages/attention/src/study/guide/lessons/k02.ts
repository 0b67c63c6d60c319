import type { Lesson } from "@evolver/guide";

export const k02: Lesson = {
  slow: `In k01 each lane reads a key of its own, 16 bytes at a time: half of each sector that is fetched is used, and the other half is fetched again for the next read.`,
  folklore: `"Put it into shared memory, it is as fast as registers": tiling is said to be the first thing to do to a kernel
that reads global memory.`,
  questions: [
    {
      question: "Why does the tile not save a single byte of global memory?",
      answer: `Shared memory saves reads of data that the same workgroup uses more than once. Here a workgroup has one query row,
and one row uses each element of K and V exactly once. So the copy only moves each element one more time.`,
    },
    {
      question: "What does halve, and why?",
      answer: `The sectors of K: 32,768 instead of 65,536. The copy has lanes along the head dimension, so that neighbouring lanes
read neighbouring 16 bytes and use whole sectors. The transposed access, one key per lane, now happens in shared memory, which
has banks instead of sectors.`,
    },
    {
      question: "Count the barriers of a workgroup: where do five come from?",
      answer: `One after the queries are in place. Then for each of the two tiles of 32 keys one after the copy, so that all lanes
can read what others wrote, and one after the use, so that no lane overwrites what others still read.`,
    },
    {
      question: "The workgroup is a single subgroup. Could the barriers be left out?",
      answer: `Not by the rules. Lanes of a subgroup need not run in lockstep: CUDA has promised none since Volta, and WebGPU
never did. A barrier of the subgroup (__syncwarp) would be enough; the same code with more than one subgroup needs one of the
workgroup. Without a barrier it is a data race, even if the result is right on one card.`,
    },
    {
      question: "Where exactly do 57,344 bank conflicts come from?",
      answer: `Keys lie 64 words apart, a multiple of the 32 banks. 16-byte reads are served eight lanes per pass, and all eight
want the same four banks: eight passes where one would do. 2,048 reads of the K tile are four groups of eight lanes each, so
65,536 passes instead of 8,192.`,
    },
    {
      question:
        "Why are rows past the end of the sequence zeros in the tile, when their probability is 0 anyway?",
      answer: `Because 0 times NaN is NaN. What lies behind the end of a tensor may be anything, and the output sums probability
times value over all rows of a tile. Zeros in the tile also mean that nothing outside the tensors is ever read.`,
    },
  ],
};
