import { exactly, atLeast, type Rung } from "./rung.ts";
import { k03 } from "./k03-shared-by-rows.ts";

export const k04: Rung = {
  id: "k04",
  title: "A K tile without bank conflicts",
  idea: `Four unused words after each key make neighbouring keys start four banks apart, so that the eight lanes of a
pass over the banks meet in none. The other way, exclusive or of a vector's place in the row with the key's number,
needs no memory but integer instructions at each read.`,
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
  found: "",
};
