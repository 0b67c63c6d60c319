import { exactly } from "@evolver/device";
import { keyValueBytes, type Rung } from "./rung.ts";
import { k06 } from "./k06-asynchronous-ring.ts";

/** Of 64 query rows by six. */
const WORKGROUPS = 11;

export const k07: Rung = {
  id: "k07",
  title: "Roles: two subgroups copy, six compute",
  idea: `Copying and computing become programs of their own. Two subgroups only fill the ring and six only use it; each slot
has a pair of phase barriers: full, where the copies arrive, and empty, where the users do. Nobody waits for the whole
workgroup. On Hopper these are mbarriers. Where subgroups cannot wait for each other, as in WebGPU, the two programs run
side by side in one loop, a tile apart, with a barrier a tile.`,
  point: { ...k06.point, pipeline: "roles", queryRows: 6 },
  variants: {},
  claims: [
    {
      text: "the only barrier of the whole workgroup is the one after the queries",
      check: (counters) => exactly(counters("k07").barriers / counters("k07").workgroups, 1),
    },
    {
      text: "a workgroup of eight subgroups computes six rows: 64 rows take 11 workgroups instead of 8",
      check: (counters) => exactly(counters("k07").workgroups, WORKGROUPS),
    },
    {
      text: "so K and V are read 11/8 times as often as in k06",
      check: (counters) =>
        exactly(keyValueBytes(counters("k07")) / keyValueBytes(counters("k06")), WORKGROUPS / 8),
    },
    {
      text: "each user of a tile speaks for its subgroup after a barrier of that subgroup alone: 6 a tile",
      check: (counters) => exactly(counters("k07").subgroupBarriers / (WORKGROUPS * 2), 6),
    },
  ],
  found: `What is counted speaks against roles with one row a subgroup: two of eight subgroups stop computing, so that
K and V are read 11/8 times as often, and 59,683 arithmetic instructions are issued instead of 54,784. What they buy is
that nobody waits for everybody: one barrier of the workgroup instead of three. The pattern is known for
kernels where one instruction of one lane copies a whole tile and another multiplies whole matrices. In scalar code it is
also an exercise in phases: a ring that forgets to acquire, waits for the wrong parity or starts its phases anew with each
tile of queries is wrong, and the simulator says so.`,
};
