import type { Lesson } from "@evolver/guide";

export const k04: Lesson = {
  slow: `All lanes of k03 read different keys at the same column, and keys start in the same bank: eight passes where one would do.`,
  folklore: `"Pad every shared array by one word", and "a swizzle is always free of conflicts and costs nothing".`,
  questions: [
    {
      question: "Why are four words added to each key and not one?",
      answer: `Lanes read 16 bytes at once, and such a read must be aligned to 16 bytes. One word would break the alignment for
three keys of four. Four words keep it, and make keys start four banks apart: eight lanes with four banks each are all 32
banks, one pass.`,
    },
    {
      question: "In which bank lies element 8 of key 3: row-major, padded, and swizzled?",
      answer: `Row-major: 3 · 64 + 8 = 200, and 200 mod 32 is bank 8. Padded: 3 · 68 + 8 = 212, bank 20. Swizzled: it is in
vector 2 of its key, which goes to the place 2 xor 3 = 1, so 3 · 64 + 4 = 196, bank 4. The picture has the last two.`,
    },
    {
      question:
        "Why is the conflict of k03 eightfold and not thirtytwofold, when all 32 lanes want the same banks?",
      answer: `A request of 32 lanes with 16 bytes each is 512 bytes and takes four passes of 128 bytes in the best case, eight lanes
at a time. Conflicts are counted within those eight. With reads of 4 bytes the 32 lanes would be one pass, and the conflict
thirtytwofold.`,
    },
    {
      question: "Why does V get neither padding nor swizzle?",
      answer: `For outputs all lanes read the same row, neighbouring lanes at neighbouring columns. 32 lanes with 8 bytes each are 256
bytes in a row: two passes, and no layout needs fewer. A tool that reports no conflict there is right.`,
    },
    {
      question: "When would you swizzle nevertheless?",
      answer: `Where shared memory is short, or where the tile's extents must be powers of two, as tensor copies and matrix
instructions on Hopper need them. Here it saves 512 bytes per tile and costs integer operations on each read. It is free of
conflicts only where the number of vectors per key is a power of two.`,
    },
    {
      question: "The head dimension is 59. Which layout is needed?",
      answer: `None. 59 is odd, so lanes read single words, and keys start 59 words apart. An odd distance and 32 banks have no common
divisor: 32 lanes fall into 32 different banks. The padded layout adds nothing where a key is an odd number of vectors.`,
    },
  ],
};
