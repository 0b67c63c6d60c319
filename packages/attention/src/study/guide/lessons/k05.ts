import type { Lesson } from "@evolver/guide";

export const k05: Lesson = {
  slow: `In k04 no lane computes while a tile is copied, and each tile has two barriers.`,
  folklore: `"Double buffering hides the latency of memory": overlap copying with computing and the copies are free.`,
  questions: [
    {
      question: "Synchronous tiles need two barriers each. Why is one enough with two buffers?",
      answer: `The barrier at the end of an iteration guarantees two things at once: the next tile is written, so all lanes may
read it; and all lanes have used this tile, so it may be overwritten. With one buffer these are different moments, since the
write has to come between them.`,
    },
    {
      question:
        "The read of the next tile comes before the use of this one, the write after. Why not both before?",
      answer: `After a load the lane goes on; it waits where the value is first needed. The write to shared memory needs the
value. If it came at once, the lane would wait for the full latency before it computes, and nothing would overlap. The place
of the first use decides, not the place of the load.`,
    },
    {
      question: "How many registers does the next tile take while it is read?",
      answer: `Two arrays of 32 × 64 elements are 4,096; 256 lanes hold them, so 16 each, during the whole use of the tile.
With fewer lanes or larger tiles it is more. What does not fit is spilled to memory, which costs more than the overlap saves.`,
    },
    {
      question: "Why do published ladders, and this one, gain little or even lose here?",
      answer: `A multiprocessor that holds several workgroups already computes for one while another waits. The second buffer takes
16,896 bytes: 35,840 instead of 18,944 for a workgroup. A multiprocessor with 228 KiB and room for 2,048 threads
has room for 8 workgroups of k04 and 6 of k05; registers may allow fewer. So k05 gains overlap
within a workgroup and loses some overlap between workgroups.`,
    },
    {
      question: "Why does the last iteration write a tile of zeros that is never read?",
      answer: `The loop's body is the same for every tile, also for the last: there is no next tile, nothing is read for it, and
zeros are written. It costs one tile of writes per workgroup, as a claim states. A branch around it would be possible, since
the whole workgroup takes it together, but it is not worth a second body here.`,
    },
    {
      question: "What must be true of the loop so that a barrier may stand in it?",
      answer: `All invocations of the workgroup must run the same number of iterations. The number of tiles comes from the range of
keys that any row of the tile sees, which is the same for the whole workgroup. If each row computed its own range, WGSL would
refuse the kernel, and on CUDA its behaviour would be undefined: it might hang.`,
    },
  ],
};
