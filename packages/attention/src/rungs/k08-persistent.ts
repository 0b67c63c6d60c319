import { denseProblemStrides } from "../tensor.ts";
import { exactly } from "@evolver/device";
import { keyValueBytes, type AttentionRung } from "./rung.ts";
import { k06 } from "./k06-asynchronous-ring.ts";

const base = k06;
const shape = { batch: 1, headsQ: 8, headsKv: 8, seqQ: 32, seqK: 32, dim: 32 };
const WORKGROUPS = 3;

export const k08: AttentionRung = {
  id: "k08",
  title: "A fixed number of workgroups that take tiles from a counter",
  idea: `Workgroups are launched once, as many as the device holds, and take tiles of queries from an atomic counter
until none is left. One invocation asks, and all get the answer through shared memory. Causal tiles differ in length: the
longest, the last of each head, are handed out first, so that no long one starts when the other workgroups are done. Each
workgroup asks once more than it gets tiles, and the one that gets the very last number sets the counter back to 0.`,
  point: { ...base.point, schedule: "persistent" },
  variants: {},
  claimCase: {
    problem: {
      shape,
      mask: { kind: "causal" },
      scale: 0.25,
      softcap: 0,
      strides: denseProblemStrides(shape),
    },
    persistentWorkgroups: WORKGROUPS,
  },
  claims: [
    {
      text: `launches ${WORKGROUPS} workgroups where it may have ${WORKGROUPS}, for any number of tiles more than that`,
      check: (counters) => exactly(counters("k08").workgroups, WORKGROUPS),
    },
    {
      text: `reads as many K and V bytes as ${base.id}: each tile is computed once, by whichever workgroup takes it`,
      check: (counters) => exactly(keyValueBytes(counters("k08")) / keyValueBytes(counters(base.id)), 1),
    },
    {
      text: "touches the counter once per tile, once more per workgroup, and once to set it back: 32 + 3 + 1 times",
      check: (counters) =>
        exactly(counters("k08").globalAtomics, counters(base.id).workgroups + WORKGROUPS + 1),
    },
    {
      text: "the price: two barriers each time that a workgroup asks",
      check: (counters) => {
        const asked = counters("k08").globalAtomics - 1;
        return exactly((counters("k08").barriers - counters(base.id).barriers) / asked, 2);
      },
    },
  ],
  found: `No counter gets better: bytes and floating-point operations are those of k06. There are 7,204 sectors instead of 7,168, for the
counter that tiles are taken from, 134 barriers instead of 64, and 107,048 arithmetic instructions instead of 103,296, most of the difference
for the order of the tiles. What can
be gained is time at the end of a launch, when some multiprocessors have run out of tiles, and the time to start workgroups. Where
there are many equal tiles, the hardware distributes them as well, since it starts a workgroup whenever one ends.`,
};
