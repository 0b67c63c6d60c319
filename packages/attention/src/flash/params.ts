/** The parameters of the kernels, which depend on the schedule. */

import { atomic, buffer, f32, u32 } from "@evolver/kernel";
import type { Symbols } from "@evolver/kernel";
import { queueParams, scalarParams } from "./scalars.ts";

const common = {
  q: buffer(f32),
  k: buffer(f32),
  v: buffer(f32),
  o: buffer(f32, "write"),
  lse: buffer(f32, "write"),
  ...scalarParams,
} as const;

/** By schedule. `tiles` has one element, which counts requests for tiles: 0 before a launch, and again after it. */
export const flashParams = {
  "one workgroup per tile": common,
  persistent: { ...common, ...queueParams, tiles: buffer(atomic(u32)) },
} as const;

/** The parameters of a kernel of flash attention. */
export type FlashParams = (typeof flashParams)[keyof typeof flashParams];
export type FlashSymbols = Symbols<FlashParams>;
export type QueueSymbols = Symbols<(typeof flashParams)["persistent"]>;
