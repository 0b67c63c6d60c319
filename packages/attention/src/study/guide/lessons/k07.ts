import type { Lesson } from "@evolver/guide";

export const k07: Lesson = {
  slow: `In k06 all subgroups copy and compute in step, and the whole workgroup waits at each tile for its slowest subgroup.`,
  folklore: `"Warp specialisation is what makes FlashAttention-3 fast", so that every kernel should have producers and
consumers.`,
  questions: [
    {
      question: "Each slot has two phase barriers. Who arrives at each, and who waits?",
      answer: `At full the producers arrive, all 64 lanes of two subgroups, when their copies have landed; consumers wait there. At
empty the consumers arrive, one lane for each of six subgroups, when they are done with the tile; producers wait there before
they fill the slot again.`,
    },
    {
      question: "Why is there a barrier of the subgroup before one lane releases the slot?",
      answer: `That lane arrives for all 32. Without the barrier it could arrive while another lane of its subgroup still reads. The
producers would then fill the slot, and the other lane would read the next tile. Lanes of a subgroup need not run in lockstep.`,
    },
    {
      question:
        "What is the parity of a phase, and what goes wrong if it restarts with each tile of queries?",
      answer: `A phase barrier stores only whether its current phase is odd or even; a waiting lane says for the end of which of the
two it waits. Use n of a ring of s slots is in phase n div s. If a persistent workgroup counts from 0 again while the barriers
keep their phase, it waits for a phase that is already over, or for one that never ends. So n is never reset between tiles.`,
    },
    {
      question: "Why does the rung read 11/8 of k06's bytes of K and V?",
      answer: `Two of eight subgroups have no row, so a workgroup computes six rows. 64 rows take 11 workgroups (the last with four
rows) instead of 8, and each reads all of K and V.`,
    },
    {
      question: "How can WebGPU run this rung, when its subgroups cannot wait for each other?",
      answer: `Both roles run in one loop, the producers one tile ahead, with a barrier of the workgroup after each iteration.
WGSL allows barriers only in uniform control flow, so they stand in the loop itself, and the roles' bodies between them. It is
correct, but it has the barriers that roles are meant to save.`,
    },
    {
      question: "When do roles pay?",
      answer: `When producing costs next to nothing: on Hopper one lane starts a tensor copy of a whole tile, and the producers give
most of their registers to the consumers, which need them for matrix instructions. Here producers are a quarter of the
subgroups, and copy 16 bytes per lane.`,
    },
  ],
};
