import { denseProblemStrides } from "../tensor.ts";
import { exactly } from "@evolver/device";
import { keyValueBytes, type AttentionRung } from "./rung.ts";
import { k08 } from "./k08-persistent.ts";
import { k09 } from "./k09-packed-heads.ts";

const GROUP = 4;
const shape = { batch: 6, headsQ: 2 * GROUP, headsKv: 2, seqQ: 1, seqK: 64, dim: 64 };
const KEY_VALUE_BYTES = 2 * shape.batch * shape.headsKv * shape.seqK * shape.dim * 4;
const WORKGROUPS = 5;

export const k10: AttentionRung = {
  id: "k10",
  title: "Packed heads, taken by a fixed number of workgroups",
  idea: `Combines the two rungs before it: a batch of short sequences becomes a few full tiles, and a fixed number of
workgroups takes one tile after another.`,
  point: { ...k08.point, heads: k09.point.heads },
  variants: {},
  claimCase: {
    problem: { shape, mask: { kind: "full" }, scale: 0.125, softcap: 0, strides: denseProblemStrides(shape) },
    persistentWorkgroups: WORKGROUPS,
  },
  claims: [
    {
      text: `decoding ${shape.batch} sequences with ${GROUP} query heads per key head, each byte of K and V is read once`,
      check: (counters) => exactly(keyValueBytes(counters("k10")) / KEY_VALUE_BYTES, 1),
    },
    {
      text: `k08 reads each ${GROUP} times`,
      check: (counters) => exactly(keyValueBytes(counters("k08")) / KEY_VALUE_BYTES, GROUP),
    },
    {
      text: `the counter is asked for 1/${GROUP} of the tiles, besides once per workgroup`,
      check: (counters) => {
        const tiles = (id: string): number => counters(id).globalAtomics - WORKGROUPS - 1;
        return exactly(tiles("k10") / tiles("k08"), 1 / GROUP);
      },
    },
    {
      text: `by ${WORKGROUPS} workgroups where it may have ${WORKGROUPS}, as in k08`,
      check: (counters) => exactly(counters("k10").workgroups, WORKGROUPS),
    },
  ],
  found: `The two neither disturb nor help each other. Packing saves as much as before, and each of the tiles (12 instead of
48) costs the two barriers of a request to the counter. Decoding has so few tiles that a persistent launch has nothing to
balance until the batch has more key heads than the device holds workgroups.`,
};
