/** A subgroup while it runs: its registers, its lanes, and where the scheduler has it. */

import type { ScalarType } from "@evolver/kernel";
import type { VectorClock } from "./vector-clock.ts";

/** Why a subgroup stopped: what generated code yields. */
export const STOPS = {
  AT_BARRIER: 1,
  /** Before an atomic operation: it may be waiting for another subgroup. */
  BEFORE_ATOMIC: 2,
  /** After many loop iterations, or where the seed says so. */
  PREEMPTED: 3,
  /** At a wait for a phase that is not complete. */
  AT_PHASE: 4,
} as const;

/** The register files of a subgroup. */
export type RegisterFile = "f32" | "i32" | "u32" | "f64";

/** The file that holds values of a type. A bool is 0 or 1. */
export const REGISTER_FILE: Readonly<Record<ScalarType, RegisterFile>> = {
  f32: "f32",
  f16: "f32",
  bf16: "f32",
  i32: "i32",
  u32: "u32",
  bool: "i32",
  index: "f64",
};

/** Some lanes of a subgroup: a byte of the mask for each lane, 1 for those in the set, and how many they are. */
export class LaneSet {
  readonly mask: Uint8Array;
  count: number;

  constructor(mask: Uint8Array, count: number) {
    this.mask = mask;
    this.count = count;
  }

  static empty(width: number): LaneSet {
    return new LaneSet(new Uint8Array(width), 0);
  }

  /** The first lane, or -1. */
  get first(): number {
    return this.mask.indexOf(1);
  }

  add(lane: number): void {
    if (this.mask[lane] !== 0) return;
    this.mask[lane] = 1;
    this.count++;
  }
}

export interface RegisterCounts {
  readonly width: number;
  /** Slots of one 4-byte number per lane. */
  readonly words: number;
  /** Slots of one double per lane. */
  readonly doubles: number;
  readonly laneSets: number;
  /** Shadows of one number per lane. */
  readonly shadows: number;
}

export class Subgroup {
  readonly index: number;
  /** Local index of lane 0. */
  readonly base: number;
  /** Lanes that exist: fewer than the width in the last subgroup of an odd-sized workgroup. */
  readonly lanes: number;
  /** Those lanes, and sets that generated code keeps others in. */
  readonly all: LaneSet;
  readonly laneSets: readonly LaneSet[];
  /** One memory under three types. */
  readonly f32: Float32Array;
  readonly i32: Int32Array;
  readonly u32: Uint32Array;
  readonly f64: Float64Array;
  /** Where the values of registers became indeterminate (shadows.ts). */
  readonly shadow: Int32Array;
  /** Local ids of the lanes. */
  readonly localX: Uint32Array;
  readonly localY: Uint32Array;
  readonly localZ: Uint32Array;

  run: Generator<number, void, void> | null = null;
  state: "ready" | "barrier" | "phase" | "done" = "ready";
  /** The site of the barrier or phase it waits at, and which of its lanes have arrived there. */
  waitsAt = 0;
  arrived: LaneSet;
  /** The sites of its last atomic operation, or of the loop without one that goes round, and of the loop it was stopped in. */
  polling = 0;
  looping = 0;
  /** What it waits for: a phase barrier by the number of its array, and an index of one of its lanes. */
  awaited = { barrier: 0, index: 0 };
  /**
   * How often memory had changed when a loop of it went round without doing anything: until memory changes again it will do
   * the same. -1 where it has not.
   */
  stuckAt = -1;
  iterations = 0;
  /** The instruction until which its lanes know all that was written, since they met there (weak-memory.ts). */
  freshSince = 0;
  /** With vector clocks: that of each lane, and the one that all of them share, if they do. */
  readonly clocks: VectorClock[] = [];
  commonClock: VectorClock | null = null;
  /** When the present epoch began: after a lane of it last released. */
  epochStart = 0;

  constructor(index: number, size: readonly [number, number, number], counts: RegisterCounts) {
    const { width } = counts;
    const invocations = size[0] * size[1] * size[2];
    this.index = index;
    this.base = index * width;
    this.lanes = Math.min(width, invocations - this.base);
    const mask = Uint8Array.from({ length: width }, (_, lane) => (lane < this.lanes ? 1 : 0));
    this.all = new LaneSet(mask, this.lanes);
    this.arrived = this.all;
    this.laneSets = Array.from({ length: counts.laneSets }, () => LaneSet.empty(width));
    const words = new ArrayBuffer(counts.words * width * 4);
    this.f32 = new Float32Array(words);
    this.i32 = new Int32Array(words);
    this.u32 = new Uint32Array(words);
    this.f64 = new Float64Array(counts.doubles * width);
    this.shadow = new Int32Array(counts.shadows * width);
    const at = (divide: number, modulo: number): Uint32Array =>
      Uint32Array.from({ length: width }, (_, lane) => Math.floor((this.base + lane) / divide) % modulo);
    this.localX = at(1, size[0]);
    this.localY = at(size[0], size[1]);
    this.localZ = at(size[0] * size[1], size[2]);
  }

  /** Local indices of the lanes for which something holds. */
  invocationsWhere(holds: (lane: number) => boolean): number[] {
    const invocations: number[] = [];
    for (let lane = 0; lane < this.lanes; lane++) if (holds(lane)) invocations.push(this.base + lane);
    return invocations;
  }

  /** Local indices of lanes in a set. */
  invocationsIn({ mask }: LaneSet): number[] {
    return this.invocationsWhere((lane) => mask[lane] !== 0);
  }
}
