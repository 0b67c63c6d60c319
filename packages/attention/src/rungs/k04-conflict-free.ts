import { exactly, atLeast } from "@evolver/device";
import { type AttentionRung } from "./rung.ts";
import { k03 } from "./k03-shared-by-rows.ts";

export const k04: AttentionRung = {
  id: "k04",
  title: "A K tile without bank conflicts",
  idea: `Four unused words after each key make neighbouring keys start four banks apart, so that the eight lanes of a
pass never access the same bank. The alternative is swizzling: each vector's place in the row is combined with the key's
number by exclusive or. It needs no memory, but integer instructions at each read.`,
  point: { ...k03.point, layout: "padded" },
  variants: { swizzled: { ...k03.point, layout: "swizzled" } },
  claims: [
    {
      text: "no bank conflict is left, where k03 has 8-way ones",
      check: (counters) => exactly(counters("k04").sharedConflicts, 0),
    },
    {
      text: "the swizzled variant has none either",
      check: (counters) => exactly(counters("k04 swizzled").sharedConflicts, 0),
    },
    {
      text: "swizzling issues more arithmetic instructions than padding",
      check: (counters) =>
        atLeast(counters("k04 swizzled").issuedArithmetic / counters("k04").issuedArithmetic, 1.01),
    },
  ],
  found: `Passes over the banks fall from 80,000 to 22,656. Padding takes no instruction more than k03 and 512 bytes more of
shared memory. Swizzling saves those bytes, but issues 51,712 arithmetic instructions instead of 44,800. It is not always
free of conflicts either, since it permutes by the bits that divide the vectors of a row: at 80 columns (20 vectors) 10,240 of
30,720 conflicts stay, where padding removes all. At 59 columns there was none to remove, since a row of odd length spreads over
the banks by itself. So the rung uses padding.`,
};
