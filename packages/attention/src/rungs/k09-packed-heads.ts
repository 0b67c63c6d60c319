import { denseProblemStrides } from "../tensor.ts";
import { exactly } from "@evolver/device";
import { keyValueBytes, type AttentionRung } from "./rung.ts";
import { k06 } from "./k06-asynchronous-ring.ts";

const base = k06;
const GROUP = 4;
const shape = { batch: 1, headsQ: 2 * GROUP, headsKv: 2, seqQ: 1, seqK: 64, dim: 64 };
const KEY_VALUE_BYTES = 2 * shape.headsKv * shape.seqK * shape.dim * 4;

export const k09: AttentionRung = {
  id: "k09",
  title: "The query heads of a group packed into a tile",
  idea: `With grouped queries several query heads read the same key head. With heads by index, each query head has its own
tiles and reads K and V itself. With packed heads, the rows of a tile are pairs of a query and a head of the group, query by
query. Decoding has a single query; packed, it fills as many rows as the group has heads.`,
  point: { ...base.point, heads: "packed" },
  variants: {},
  claimCase: {
    problem: { shape, mask: { kind: "full" }, scale: 0.125, softcap: 0, strides: denseProblemStrides(shape) },
  },
  claims: [
    {
      text: `decoding with ${GROUP} query heads per key head, ${base.id} reads all of K and V ${GROUP} times`,
      check: (counters) => exactly(keyValueBytes(counters(base.id)) / KEY_VALUE_BYTES, GROUP),
    },
    {
      text: `packed, it reads them once: 1/${GROUP} of the bytes`,
      check: (counters) =>
        exactly(keyValueBytes(counters("k09")) / keyValueBytes(counters(base.id)), 1 / GROUP),
    },
    {
      text: `and launches 1/${GROUP} of the workgroups, one per key head`,
      check: (counters) => exactly(counters("k09").workgroups / counters(base.id).workgroups, 1 / GROUP),
    },
  ],
  found: `Packing saves more than reads. Rows of a tile that do not exist are computed like the others, so that decoding
this by index takes 1,127,424 floating-point operations, and packed 282,624. Where there are enough queries to fill tiles,
packing saves nothing, except under a causal mask: for 64 queries of 4 heads on one key head, 540,672 bytes of K and V instead of
589,824, since eight rows are two positions and not eight. The price is a division by the size of the group for each row: 216,704
arithmetic instructions instead of 213,760.`,
};
