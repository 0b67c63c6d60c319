/** A study that nobody measures: a ladder of four rungs over a few axes, whose inputs are texts such as B1,Hq8,…. */

import type { MeasuredStudy } from "@evolver/guide";
import type { Point } from "@evolver/lab";

export const SHAPE = "B1,Hq8,Hkv8,S1024,D64";
/** 4·8·1024·1024·64 operations. */
export const FLOPS = 2_147_483_648;

const FIRST: Point = { queryRows: 1, vector: 1, unroll: 1, pipeline: "synchronous" };
const TILES: Point = { queryRows: 128, vector: 4, unroll: 4, pipeline: "staggered" };

/** Two axes from the reference. */
export const CHAMPION: Point = { ...TILES, queryRows: 64, unroll: 8 };

export const someStudy: MeasuredStudy = {
  id: "some",
  prefix: "",
  ladders: ["", "-gqa"],
  rungs: [
    { id: "k01", point: FIRST },
    { id: "k02", point: { ...FIRST, queryRows: 8 } },
    { id: "k04", point: { ...FIRST, queryRows: 8, vector: 4 } },
    { id: "k11", point: TILES },
  ],
  axes: [
    { name: "queryRows", values: [1, 8, 64, 128] },
    { name: "vector", values: [1, 2, 4] },
    { name: "unroll", values: [1, 4, 8] },
    { name: "pipeline", values: ["synchronous", "staggered"] },
  ],
  reference: "k11",
  problemOf: (input) => (input.startsWith("B1,") ? { shape: input.replace(/, .*/, ""), flops: FLOPS } : null),
  fitted: () => TILES,
  counterNotes: [
    {
      counters: ["global load sectors"],
      applies: ({ ncu, sim }) => ncu !== null && ncu > sim,
      why: "each copy counts as one sector more than it reads",
    },
    {
      counters: ["global store sectors"],
      applies: ({ ncu, sim }) => ncu !== null && ncu > sim,
      why: "NVRTC 13 splits stores",
    },
  ],
};
