/** What a rung of the ladder is, and how its claims read the simulator's counters. */

import { memoryOf, SHARED_BANKS, type Counters, type Rung } from "@evolver/device";
import type { FlashPoint } from "../flash/space.ts";
import type { AttentionProblem } from "../problem.ts";

/** The input on which claims are proved. */
export interface ClaimCase {
  /** With dense strides. */
  readonly problem: AttentionProblem;
  /** The most workgroups of a persistent kernel, where that matters. */
  readonly persistentWorkgroups?: number;
}

/** A step of the ladder: a point of the space, what it teaches, and its claims. */
export interface AttentionRung extends Rung<FlashPoint> {
  /** What this rung's claims are proved on, with the counters of all rungs in them; `claimProblem` if left out. */
  readonly claimCase?: ClaimCase;
}

/** Bytes of K and V read from global memory. */
export const keyValueBytes = (counters: Counters): number =>
  memoryOf(counters, "k").readBytes + memoryOf(counters, "v").readBytes;

/** Floating-point operations for each byte read from shared memory. */
export const flopsPerSharedByte = ({ flops, sharedReadBytes }: Counters): number => flops / sharedReadBytes;

/** Tiles that are filled 16 bytes per lane, lane after lane. */
const TILES = ["q_tile", "k_tile", "v_tile"];

/** Passes over the banks for each read of 16 bytes per lane from the tiles, where each write of the same takes four. */
export function passesPerTileRead(counters: Counters): number {
  const tiles = TILES.map((name) => memoryOf(counters, name));
  const sum = (of: "passes" | "writeRequests" | "readRequests"): number =>
    tiles.reduce((all, tile) => all + tile[of], 0);
  return (sum("passes") - 4 * sum("writeRequests")) / sum("readRequests");
}

const PASS_BYTES = 4 * SHARED_BANKS;

/**
 * How many lanes of a pass access the same bank on average, 1 where there is no conflict: the passes that reads of an
 * array take, divided by those that their bytes need. Only for arrays whose writes and partial passes have no conflicts.
 */
export function conflictDegree(counters: Counters, name: string): number {
  const { conflicts, readBytes } = memoryOf(counters, name);
  return 1 + conflicts / (readBytes / PASS_BYTES);
}
