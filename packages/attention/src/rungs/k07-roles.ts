import { exactly } from "@evolver/device";
import { keyValueBytes, type AttentionRung } from "./rung.ts";
import { k06 } from "./k06-asynchronous-ring.ts";

/** Of 64 query rows by six. */
const WORKGROUPS = 11;

export const k07: AttentionRung = {
  id: "k07",
  title: "Roles: two subgroups copy, six compute",
  idea: `Copying and computing become two programs. Two subgroups only fill the ring and six only use it. Each slot has a
pair of phase barriers: the copies arrive at "full", and the users at "empty". No subgroup waits for the whole workgroup. On
Hopper these are mbarriers. Where subgroups cannot wait for each other, as in WebGPU, the two programs run side by side in one
loop, one tile apart, with one barrier per tile.`,
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
      text: "each subgroup that uses a tile releases it after a barrier of that subgroup alone: 6 per tile",
      check: (counters) => exactly(counters("k07").subgroupBarriers / (WORKGROUPS * 2), 6),
    },
  ],
  found: `The counters speak against roles with one row per subgroup: two of eight subgroups stop computing, so that
K and V are read 11/8 times as often, and 58,033 arithmetic instructions are issued instead of 53,440. The gain is that
subgroups rarely wait for the whole workgroup: one barrier of the workgroup instead of three. Kernels use roles where one
instruction of one lane copies a whole tile and another multiplies whole matrices. In scalar code they teach phases: a ring that
does not acquire a slot, waits for the wrong parity or restarts its phases with each tile is wrong, and the simulator reports it.`,
};
