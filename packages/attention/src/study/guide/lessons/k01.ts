import type { Lesson } from "@evolver/guide";

export const k01: Lesson = {
  slow: `Plain attention writes the S × S matrix of scores to memory and reads it again. This kernel never stores it.`,
  folklore: `"Attention is slow because it writes the S × S matrix of scores to memory", and "uncoalesced reads multiply the
bytes that are read".`,
  questions: [
    {
      question: "How can softmax be computed without ever holding a row of scores?",
      answer: `Keep three things per row: the largest score so far m, the sum l of exp(s − m), and the output o, the sum of
exp(s − m) · v. When a group of keys brings a larger score m', multiply l and o by exp(m − m') and go on. At the end divide o
by l. Mathematically this is exact; in floating point each rescaling adds one rounding.`,
    },
    {
      question: "Why does the kernel compute powers of 2 when softmax is about powers of e?",
      answer: `exp(scale · s) is 2 to the (scale · log2 e) · s. The factor is one argument of the launch, and NVIDIA's
hardware has an instruction for powers of 2: exp would be that instruction and one more multiplication. The maximum is
taken of raw scores, so the factor must not be negative; with a negative scale, the queries change sign instead.`,
    },
    {
      question: "What is the danger in marking masked scores with −∞, and what does this kernel do?",
      answer: `A row that has seen only masked keys has the maximum −∞, and −∞ − (−∞) is NaN. Very low finite marks are wrong
too: real scores may be lower. Here the maximum starts at the lowest finite number, a select sets masked probabilities to
0 without a special score, and a row whose sum is 0 stores 0, with −∞ as its logarithm. Values of probability 0 are left out, since 0
times NaN is NaN; the last question of k11 says what that costs.`,
    },
    {
      question: "Lanes request 1,048,576 bytes of each of K and V. Why does K cost twice the sectors?",
      answer: `For scores each lane reads 16 bytes of a key of its own, and keys are 256 bytes apart: 32 lanes touch 32
sectors of 32 bytes and use half of each; 2,048 such reads are 65,536 sectors. For outputs 32 neighbouring lanes read 8
neighbouring bytes each from one row of V: 256 bytes in 8 sectors, all used; 4,096 reads are 32,768 sectors.`,
    },
    {
      question: "Why do lanes exchange probabilities at all? Could each keep its own key for the output too?",
      answer: `Then every lane would hold a whole output row of 64 columns for its own keys, 64 registers instead of 2, and 32
such rows would have to be added up across lanes at the end. Instead a lane's part changes: one key for scores, two columns
for outputs. The price is one broadcast per row and key, 4,096 of the 4,288 subgroup instructions here; the other 192
are two maxima and one sum per row.`,
    },
    {
      question: "Each lane keeps its own sum until the end, but the maximum is shared at once. Why?",
      answer: `Lanes must agree on the maximum before they compute probabilities, since outputs mix the probabilities of all
lanes. Sums need no agreement: all lanes of a row rescale by the same factor, so that their sums can be added once at the
end. That saves a reduction for every group of keys.`,
    },
  ],
};
