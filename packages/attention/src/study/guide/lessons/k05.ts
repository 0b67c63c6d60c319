import type { Lesson } from "@evolver/guide";

export const k05: Lesson = {
  folklore: `"Double buffering hides the latency of memory": overlap copying with computing and the copies are free.`,
  questions: [
    {
      question: "Synchronous tiles need two barriers each. Why is one enough with two buffers?",
      answer: `The barrier at the end of a turn says two things at once: the next tile is written, so all may read it; and this
tile was used by all, so it may be overwritten. With one buffer these are different moments, since the write has to come
between them.`,
    },
    {
      question:
        "The read of the next tile comes before the use of this one, the write after. Why not both before?",
      answer: `A load is issued and the lane goes on; it waits where the value is first needed. Writing to shared memory needs it.
Written at once, the lane would wait for the full latency before it computes, and nothing would overlap. The place of the
first use decides, not the place of the load.`,
    },
    {
      question: "How many registers does the tile on its way take?",
      answer: `Two arrays of 32 × 64 elements are 4,096; 256 lanes hold them, so 16 each, through the whole use of the tile.
With fewer lanes or larger tiles it is more, and what does not fit is spilled to memory, which costs more than it hid.`,
    },
    {
      question: "Why do published ladders, and this one, gain little or even lose here?",
      answer: `A multiprocessor that holds several workgroups already computes for one while another waits. The second buffer takes
16,896 bytes: 35,840 instead of 18,944 for a workgroup. A multiprocessor with 228 KiB and room for 2,048 threads
has place for 8 workgroups of k04 and 6 of k05; registers may allow less. So one buys overlap
within a workgroup with some of the overlap between workgroups.`,
    },
    {
      question: "Why does the last turn write a tile of zeros that nobody reads?",
      answer: `The loop's body is the same for every tile, the last included: there is no next tile, nothing is read for it, and
zeros are written. It costs one tile of writes a workgroup, which a claim states. A branch around it would have to be taken
by the whole workgroup alike, which it could be; it is not worth a second body here.`,
    },
    {
      question: "What must be true of the loop so that a barrier may stand in it?",
      answer: `All invocations of the workgroup must take the same number of turns. The number of tiles comes from the range of keys
that any row of the tile sees, which is the same for the whole workgroup. Were it computed a row, WGSL would refuse the
kernel, and CUDA would hang or worse.`,
    },
  ],
};
