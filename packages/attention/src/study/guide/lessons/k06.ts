import type { Lesson } from "@evolver/guide";

export const k06: Lesson = {
  slow: `k05 holds the next tile in registers on its way to shared memory, and spends 30 % more arithmetic instructions than k04 on it.`,
  folklore: `"cp.async is faster than loads and stores", and "the deeper the pipeline, the better".`,
  questions: [
    {
      question: "What do commit and await mean, and what does a ring of four await?",
      answer: `A lane's copies since its last commit are a group. await(n) returns when all of the lane's groups but the youngest n
have arrived. A ring of four copies three tiles ahead and awaits all but two groups, so that the oldest tile is there and two
may still be in flight. A ring of two awaits all.`,
    },
    {
      question: "Why is there a barrier after await, although the copies have arrived?",
      answer: `await waits only for a lane's own copies. A lane reads what all lanes copied, so all lanes must have awaited theirs.
The same barrier guarantees that all lanes are done with the previous tile, whose slot the next copy fills.`,
    },
    {
      question: "Why does the next copy start after the barrier and not before it?",
      answer: `It fills the slot of the tile that was used in the previous iteration. Until the barrier, another subgroup may still
read that tile. An earlier start is a race, which shows only if a copy is fast or a subgroup slow. The simulator reports it
whatever the timing.`,
    },
    {
      question: "Why does the kernel commit groups that contain nothing, past the last tile?",
      answer: `await counts groups. If the last iterations committed none, "all but the youngest n" would leave out groups that are
still needed, and the last tiles might be used before they arrive. Empty groups keep the count right with the same code in
every iteration.`,
    },
    {
      question: "What do two, three and four slots change in the counters? What decides, then?",
      answer: `Almost nothing: the same bytes, copies and barriers, and a few integer instructions to find the slot. With a deeper
ring a copy may take longer before a lane waits for it. But each slot takes 16,896 bytes of shared memory, so that fewer
workgroups fit. Latency, the time to use a tile, and occupancy decide, and these have to be measured.`,
    },
    {
      question: "What does this program do where the hardware has no asynchronous copies?",
      answer: `It copies at the moment when the copy is started: correct, but with nothing in flight. The emitter's report says so
for each target. The simulator does the opposite: data arrives only when the copy is awaited, so that a missing wait fails
there even if hardware would hide it.`,
    },
  ],
};
