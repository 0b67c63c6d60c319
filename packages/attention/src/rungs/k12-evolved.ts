import { geometryOf } from "../flash/measure.ts";
import { denseProblemStrides } from "../tensor.ts";
import { atLeast, atMost, exactly } from "@evolver/device";
import { flopsPerSharedByte, keyValueBytes, passesPerTileRead, type AttentionRung } from "./rung.ts";
import { k11 } from "./k11-register-tiles.ts";

const SUBGROUP = 32;
const HEADS = 2;
const shape = { batch: 1, headsQ: HEADS, headsKv: HEADS, seqQ: 128, seqK: 128, dim: 64 };
/** Fewer than there are tiles. */
const WORKGROUPS = 3;

const point = { ...k11.point, queryRows: 64, rowsPerSubgroup: 16, schedule: "persistent" } as const;
const TILES = (HEADS * shape.seqQ) / point.queryRows;

export const k12: AttentionRung = {
  id: "k12",
  title: "Found by evolution: half the rows, taken from a counter",
  idea: `Evolution on a GPU found this rung, starting from k01. It is k11 with half as many rows: 64 per workgroup, 16 per
subgroup, and 4 rows × 8 keys per lane. A lane reads more for each number that it computes and keeps half as many numbers. There
are twice as many workgroups, and more of them fit on a multiprocessor. They take tiles of queries from k08's counter. Another
run found the causal variant, for Llama's heads: 128 rows again, in 8 subgroups, and probabilities exchanged by shuffles.`,
  point,
  variants: {
    causal: { ...point, queryRows: 128, exchange: "shuffle" },
  },
  claimCase: {
    problem: { shape, mask: { kind: "full" }, scale: 0.125, softcap: 0, strides: denseProblemStrides(shape) },
    persistentWorkgroups: WORKGROUPS,
  },
  claims: [
    {
      text: "a lane keeps half the numbers of k11 in registers: 72 instead of 144 at 64 columns",
      check: () => {
        const registers = (of: AttentionRung): number => geometryOf(of.point, shape.dim, SUBGROUP).registers;
        return exactly(registers(k12) / registers(k11), 1 / 2);
      },
    },
    {
      text: "at least 3.8 times the floating-point operations of k04 for each byte read from shared memory",
      check: (counters) =>
        atLeast(flopsPerSharedByte(counters("k12")) / flopsPerSharedByte(counters("k04")), 3.8),
    },
    {
      text: "the price: at most 2/3 of k11's",
      check: (counters) =>
        atMost(flopsPerSharedByte(counters("k12")) / flopsPerSharedByte(counters("k11")), 2 / 3),
    },
    {
      text: "the price: 64 rows share each tile, so K and V are read twice as often as in k11",
      check: (counters) => exactly(keyValueBytes(counters("k12")) / keyValueBytes(counters("k11")), 2),
    },
    {
      text: "and as often as by k11's half tiles, also of 64 rows",
      check: (counters) =>
        exactly(keyValueBytes(counters("k12")) / keyValueBytes(counters("k11 half tiles")), 1),
    },
    {
      text: `launches ${WORKGROUPS} workgroups where it may have ${WORKGROUPS}, for ${TILES} tiles`,
      check: (counters) => exactly(counters("k12").workgroups, WORKGROUPS),
    },
    {
      text: `touches the counter once per tile, once more per workgroup, and once to set it back: ${TILES} + ${WORKGROUPS} + 1 times`,
      check: (counters) => exactly(counters("k12").globalAtomics, TILES + WORKGROUPS + 1),
    },
    {
      text: "no bank conflict, in the causal variant either",
      check: (counters) =>
        exactly(counters("k12").sharedConflicts + counters("k12 causal").sharedConflicts, 0),
    },
    {
      text: "reads of queries, keys and values take 2 passes for 16 bytes per lane, as in k11",
      check: (counters) => exactly(passesPerTileRead(counters("k12")), 2),
    },
    {
      text: "the causal variant has no barrier of a subgroup: no probability goes through shared memory",
      check: (counters) => exactly(counters("k12 causal").subgroupBarriers, 0),
    },
    {
      text: "its price: at least 15 times the shuffles and other subgroup instructions of k11",
      check: (counters) =>
        atLeast(counters("k12 causal").issuedSubgroup / counters("k11").issuedSubgroup, 15),
    },
  ],
  found: `For 8 heads of 1,024 queries it has 128 tiles of 64 rows, where k11 has 64 of 128. Both are fewer than the 132
multiprocessors, so no workgroup gets a second tile and the counter does not matter. It explains the causal variant, though: if
time is proportional to a tile's keys, 132 multiprocessors are done after 28 tiles of keys in the order of the launch, and after 18
with the longest first. The shuffles cost 276,464 arithmetic instructions instead of k11's 166,656.`,
};
