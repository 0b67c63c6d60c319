import type { Lesson } from "@evolver/guide";

export const k08: Lesson = {
  slow: `A workgroup of k06 computes one tile of queries and ends. Under a causal mask tiles differ in length, so that the last ones leave most multiprocessors idle.`,
  folklore: `"Persistent kernels save the launch of workgroups and balance the load", so that they are faster.`,
  questions: [
    {
      question: "The counter is never cleared by the host. How is it 0 again for the next launch?",
      answer: `Every workgroup asks until it gets a number past the last tile. So each gets exactly one such number, and the counter
ends at tiles plus workgroups. The workgroup that gets the last number knows that no other will ask again, and writes 0. With
32 tiles and 3 workgroups that is 32 + 3 + 1 = 36 atomic operations.`,
    },
    {
      question: "Why two barriers per request to the counter?",
      answer: `One lane adds to the counter and writes the result to shared memory. The first barrier makes all lanes read it only
after it is written. The second makes sure that all lanes have read it before the next result overwrites it. They also
separate the last use of the tiles in shared memory from the first write for the next tile of queries.`,
    },
    {
      question: "Why are the longest tiles handed out first?",
      answer: `A launch lasts until the last workgroup is done. A long tile that is started last keeps all others waiting for most of
its length; a short one only for its own. Under a causal mask the last tile of a head sees the most keys, so the last tiles of
all heads come first.`,
    },
    {
      question: "Why are heads taken in sections, and not simply all last tiles of all heads?",
      answer: `Tiles of one head read the same K and V. With very many heads in turn, each would push the others' K and V out of
the second-level cache before they are used again. A section has as many heads as fit into 32 MiB, FlashAttention-3's
number.`,
    },
    {
      question: "Two launches of this kernel run at the same time on two streams. What has to be different?",
      answer: `Each needs its own counter. With a shared one they take each other's tiles, and neither computes all of its own
tiles. Launches that run one after another may share the counter; two at the same time may not.`,
    },
    {
      question: "When is there nothing to gain?",
      answer: `When there are many tiles of equal length. The hardware starts a workgroup whenever one ends, which distributes tiles
as well as a counter does, without its barriers. There is something to gain where lengths differ (causal, ragged), where the
number of workgroups is a little more than fit at once, or where starting a workgroup costs much.`,
    },
  ],
};
