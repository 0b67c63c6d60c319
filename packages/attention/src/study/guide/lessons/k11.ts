import type { Lesson } from "@evolver/guide";

export const k11: Lesson = {
  slow: `Each lane of k04 has one row, and reads about three bytes of shared memory for each floating-point operation.`,
  folklore: `"Scalar kernels cannot be fast without tensor cores", and, in most ladders of attention, no rung for register
tiles at all, although for matrix products they are known to be the largest step.`,
  questions: [
    {
      question: "How much does a register tile of r rows by c keys save in reads of shared memory?",
      answer: `For each column it reads r + c numbers and does r · c multiply-adds: r · c / (r + c) per number. One by one that is a
half, eight by eight it is 4, eight times as much. A square is best for a given number of accumulators.`,
    },
    {
      question: "How many registers does a lane need for eight by eight, at 64 columns?",
      answer: `A lane has 8 rows with 8 scores, 8 output columns, a maximum and a sum each: 8 · 18 = 144, besides operands in
flight and addresses. A lane can have 255. The next larger point would be spilled to memory, so the space refuses points
above 200.`,
    },
    {
      question: "Why do the bits of rows and keys alternate in the lane's number?",
      answer: `NVIDIA's shared memory serves 16-byte reads of half a subgroup in one pass instead of two where neighbouring pairs of
lanes read the same address: lane l and l xor 1, or l and l xor 2. When bits alternate, one of the two pairs has the same
row and the other the same key, so that both reads of queries and reads of keys take one pass.`,
    },
    {
      question: "Why do probabilities go through shared memory here, and by shuffles in the other rungs?",
      answer: `A shuffle brings one number: 8 rows by 64 keys would be 512 shuffles per lane and tile. A read of 16 bytes brings four
neighbouring probabilities, the same ones for all lanes of a row: 128 reads. Writer and readers are one subgroup, so that a
barrier of the subgroup is enough.`,
    },
    {
      question: "There is one slot for K and one for V. How can copies overlap with computing?",
      answer: `Keys and values are copied at different times. Once all lanes have computed scores, the K slot is free, and the next
keys are copied while outputs are computed. Once all have computed outputs, the V slot is free, and the next values are copied
while scores are computed. It takes two barriers per tile, and half the memory of a ring of two.`,
    },
    {
      question:
        "Why may smaller tiles win on B1, H8, S1024 on a card of 132 multiprocessors, though they reuse less?",
      answer: `128 rows per workgroup make 8 · 1024 / 128 = 64 workgroups, and half of 132 multiprocessors have nothing to
do. Reuse does not help an idle multiprocessor. With 64 rows there are 128 workgroups. With larger batches the larger tile wins.`,
    },
    {
      question: "What does it cost to keep NaN out of rows that may not see it?",
      answer: `The probability of a key that a row does not see is 0, but 0 times NaN or infinity is NaN. So where the mask cuts
through a group of keys, each row leaves such keys out: one comparison per row and key, for all columns of a lane. Other groups pay for
one test of whether they are cut, and problems without a mask for nothing. For one causal head of 512 queries, rows meet 7,936 such keys in
k04 and 32,512 in k11, and each saves 64 multiply-adds. k04, with two columns per lane, issues 1,496,640 arithmetic instructions
instead of 1,476,672 (1.4 % more), and its modelled time stays 15.7 µs. k11 issues 783,072 instead of 828,832 (5.5 % fewer), and takes
51.2 µs instead of 53.9: with eight columns, the multiply-adds that are left out are more than the comparisons. Measured on an H200, k01 to k11 with both, leaving keys out and
summing in blocks, take between 3.4 % less and 2.5 % more time than with neither, over the five shapes of docs/gpu.md (commits 36c321a and
c538314).`,
    },
  ],
};
