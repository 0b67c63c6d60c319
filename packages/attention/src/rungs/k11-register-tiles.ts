import { denseProblemStrides } from "../tensor.ts";
import { atLeast, atMost, exactly } from "@evolver/device";
import { flopsPerSharedByte, keyValueBytes, passesPerTileRead, type AttentionRung } from "./rung.ts";
import { k04 } from "./k04-conflict-free.ts";

const shape = { batch: 1, headsQ: 1, headsKv: 1, seqQ: 128, seqK: 128, dim: 64 };

export const k11: AttentionRung = {
  id: "k11",
  title: "Register tiles: eight rows by eight keys per lane",
  idea: `A lane no longer takes one row: it holds the scores of 8 rows × 8 keys in registers, and the output of the same 8
rows × 8 columns, so that each number it reads from shared memory is used eight times. The lanes of a subgroup form a grid
of four by eight over 32 rows and 64 keys. Rows and keys alternate in the bits of the lane's number: shared memory serves
16-byte reads of half a subgroup in one pass where neighbours read one address. Probabilities go through shared memory
within the subgroup. Values are copied while scores are computed, and the next keys while outputs are computed. Only tiles that
the mask or the end of the sequence cuts are masked.`,
  point: {
    ...k04.point,
    queryRows: 128,
    rowsPerSubgroup: 32,
    rowLanes: 4,
    keyRows: 64,
    keysPerLane: 8,
    exchange: "shared",
    masking: "at edges",
    pipeline: "staggered",
    depth: 1,
  },
  variants: {
    "half tiles": {
      ...k04.point,
      queryRows: 64,
      rowsPerSubgroup: 8,
      rowLanes: 2,
      keyRows: 128,
      keysPerLane: 8,
      exchange: "shared",
      pipeline: "staggered",
      depth: 1,
    },
    "masked everywhere": {
      ...k04.point,
      queryRows: 128,
      rowsPerSubgroup: 32,
      rowLanes: 4,
      keyRows: 64,
      keysPerLane: 8,
      exchange: "shared",
      pipeline: "staggered",
      depth: 1,
    },
  },
  claimCase: {
    problem: { shape, mask: { kind: "full" }, scale: 0.125, softcap: 0, strides: denseProblemStrides(shape) },
  },
  claims: [
    {
      text: "128 rows share each tile: K and V are read 1/16 as often as in k04",
      check: (counters) => exactly(keyValueBytes(counters("k11")) / keyValueBytes(counters("k04")), 1 / 16),
    },
    {
      text: "at least 4 times the floating-point operations of k04 for each byte read from shared memory",
      check: (counters) =>
        atLeast(flopsPerSharedByte(counters("k11")) / flopsPerSharedByte(counters("k04")), 4),
    },
    {
      text: "no bank conflict is left",
      check: (counters) => exactly(counters("k11").sharedConflicts, 0),
    },
    {
      text: "reads of queries, keys and values take 2 passes for 16 bytes per lane; lanes with an address each take 4",
      check: (counters) => exactly(passesPerTileRead(counters("k11")), 2),
    },
    {
      text: "at most 2/5 of k04's instructions, of all kinds together",
      check: (counters) => {
        const issued = (rung: string): number => {
          const { issuedArithmetic, issuedSpecial, issuedMemory, issuedSubgroup } = counters(rung);
          return issuedArithmetic + issuedSpecial + issuedMemory + issuedSubgroup;
        };
        return atMost(issued("k11") / issued("k04"), 2 / 5);
      },
    },
    {
      text: "masking everywhere would take more arithmetic instructions",
      check: (counters) =>
        atLeast(counters("k11 masked everywhere").issuedArithmetic / counters("k11").issuedArithmetic, 1.015),
    },
  ],
  found: `For scalar kernels this is the largest step: 5.8 times the operations for each byte of shared memory, and 89,168
instructions instead of 226,304 for 128 rows. The order of the lanes matters as much as the layout of the tile. With rows and
keys in separate halves of the lane's number there is no bank conflict either, but reads of keys and values take four passes
instead of two.`,
};
