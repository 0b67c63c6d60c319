/** A subgroup while it runs: its registers, its lanes, and where the scheduler has it. */

/** Why a subgroup stopped. */
export const AT_BARRIER = 1;
/** Before an atomic operation: it may be waiting for another subgroup. */
export const AT_ATOMIC = 2;
/** After many loop iterations, or where the seed says so. */
export const PREEMPTED = 3;
/** At a wait for a phase that is not complete. */
export const AT_PHASE = 4;

export type Times = Int32Array;

/** What an invocation knows of the accesses of others (clocks.ts). Never changed, so that lanes share it. */
export interface Known {
  /** By invocation of the workgroup: up to when its accesses are ordered before. */
  readonly here: Times;
  /** The least of `here` in each unit of lanes. */
  readonly low: Times;
  /** The same of earlier workgroups, by linear index. */
  readonly there: ReadonlyMap<number, Times>;
}

export interface RegisterCounts {
  readonly width: number;
  /** Slots of one 4-byte number a lane. */
  readonly words: number;
  /** Slots of one double a lane. */
  readonly doubles: number;
  readonly masks: number;
}

export class Subgroup {
  readonly index: number;
  /** Local index of lane 0. */
  readonly base: number;
  /** Lanes that exist: fewer than the width in the last subgroup of an odd-sized workgroup. */
  readonly lanes: number;
  readonly mask: Uint8Array;
  readonly masks: readonly Uint8Array[];
  readonly F: Float32Array;
  readonly I: Int32Array;
  readonly U: Uint32Array;
  readonly D: Float64Array;
  /** Local ids of the lanes. */
  readonly x: Uint32Array;
  readonly y: Uint32Array;
  readonly z: Uint32Array;

  run: Generator<number, void, void> | null = null;
  state: "ready" | "barrier" | "phase" | "done" = "ready";
  /** The site of the barrier or phase it waits at, and which of its lanes and how many arrived. */
  barrier = 0;
  arrived = 0;
  arrivedMask: Uint8Array;
  /** The sites of its last atomic operation and of the loop it was stopped in. */
  polling = 0;
  /** What it waits for: a phase barrier by the number of its array, and an index of one of its lanes. */
  awaited = { barrier: 0, index: 0 };
  looping = 0;
  /** Atomic operations since memory last changed. */
  polls = 0;
  iterations = 0;
  /** With vector clocks: what each lane knows, and the one thing that all of them know if it is one. */
  readonly known: Known[] = [];
  common: Known | null = null;
  /** When the present interval began: after a lane of it last released. */
  tick = 0;

  constructor(index: number, size: readonly [number, number, number], counts: RegisterCounts) {
    const { width } = counts;
    const invocations = size[0] * size[1] * size[2];
    this.index = index;
    this.base = index * width;
    this.lanes = Math.min(width, invocations - this.base);
    this.mask = Uint8Array.from({ length: width }, (_, lane) => (lane < this.lanes ? 1 : 0));
    this.arrivedMask = this.mask;
    this.masks = Array.from({ length: counts.masks }, () => new Uint8Array(width));
    const words = new ArrayBuffer(counts.words * width * 4);
    this.F = new Float32Array(words);
    this.I = new Int32Array(words);
    this.U = new Uint32Array(words);
    this.D = new Float64Array(counts.doubles * width);
    const at = (divide: number, modulo: number): Uint32Array =>
      Uint32Array.from({ length: width }, (_, lane) => Math.floor((this.base + lane) / divide) % modulo);
    this.x = at(1, size[0]);
    this.y = at(size[0], size[1]);
    this.z = at(size[0] * size[1], size[2]);
  }
}
