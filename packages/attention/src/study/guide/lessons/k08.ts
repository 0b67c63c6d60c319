import type { Lesson } from "@evolver/guide";

export const k08: Lesson = {
  folklore: `"Persistent kernels save the launch of workgroups and balance the load", so that they are faster.`,
  questions: [
    {
      question: "The counter is never cleared by the host. How is it 0 again for the next launch?",
      answer: `Every workgroup asks until it gets a number past the last tile, so each asks exactly once in vain, and the counter
ends at tiles plus workgroups. Whoever gets the last of those numbers knows that nobody will ask again, and writes 0. With 32
tiles and 3 workgroups that is 32 + 3 + 1 = 36 atomic operations.`,
    },
    {
      question: "Why two barriers a question?",
      answer: `One lane asks and writes the answer to shared memory. The first barrier: nobody reads before it is written. The
second: nobody goes on, and overwrites it with the next answer, before all have read it. They also part the last use of the
tiles in shared memory from the first write for the next tile of queries.`,
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
      answer: `Each needs a counter of its own. With a shared one they take each other's tiles, and neither computes all of its
own. The buffer belongs to the launch: one after another may use it, two at a time may not.`,
    },
    {
      question: "When is there nothing to gain?",
      answer: `When tiles are alike and many. The hardware starts a workgroup wherever one ends, which hands tiles out as well as a
counter does, without its barriers. There is something to gain where lengths differ (causal, ragged), where the number of
workgroups is a little more than fit at once, or where a workgroup's start costs much.`,
    },
  ],
};
