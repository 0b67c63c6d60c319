import type { Lesson } from "@evolver/guide";

export const k06: Lesson = {
  folklore: `"cp.async is faster than loads and stores", and "the deeper the pipeline, the better".`,
  questions: [
    {
      question: "What do commit and await mean, and what does a ring of four await?",
      answer: `A lane's copies since its last commit are a group. await(n) returns when all of the lane's groups but the youngest n
have landed. A ring of four keeps three tiles ahead and awaits all but two groups, so that the oldest tile is there and two
may still be on their way. A ring of two awaits all.`,
    },
    {
      question: "Why is there a barrier after await? The copies have landed, after all.",
      answer: `await is about a lane's own copies. A lane reads what all lanes copied, so all have to have awaited theirs. The same
barrier says that everybody is done with the tile before, whose slot the next copy fills.`,
    },
    {
      question: "Why does the next copy start after the barrier and not before it?",
      answer: `It goes to the slot of the tile that was used in the turn before. Until the barrier, some other subgroup may still
read it. Started earlier it is a race, which shows only if a copy is fast or a subgroup slow. The simulator reports it whatever the timing.`,
    },
    {
      question: "Why does the kernel commit groups that contain nothing, past the last tile?",
      answer: `await counts groups. If the last turns committed none, all but the youngest n would be too few to wait for, and the
last tiles might be used before they landed. Empty groups keep the count right with the same code in every turn.`,
    },
    {
      question: "What do two, three and four slots change in the counters? What decides, then?",
      answer: `Next to nothing: the same bytes, copies and barriers, and a few integer instructions to find the slot. A deeper ring allows a copy to take longer before anybody waits for
it, and takes 16,896 bytes of shared memory a slot, so that fewer workgroups fit. Latency, time to use a tile and occupancy
decide, and only a clock knows them.`,
    },
    {
      question: "What becomes of this program where the hardware has no asynchronous copies?",
      answer: `The same program copies when the copy is started: correct, with nothing in flight. The report of the lowering
says so for each target. The simulator does the opposite: a copy lands only when it is awaited, so that a forgotten wait
fails there even if hardware would hide it.`,
    },
  ],
};
