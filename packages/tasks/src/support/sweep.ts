/**
 * Going through a stretch of memory with several vectors in flight: each invocation reads all vectors of a turn before it uses one
 * of them, so that their latencies overlap.
 */

import type { F32, Gpu, U32, ViewOptions } from "@evolver/kernel";
import { byWidth, readVector, writeVector, type Reach, type Source, type Target } from "./vectors.ts";

/** The elements of one turn that an invocation has. */
export interface Piece {
  /** Their places, in order. */
  readonly places: readonly U32[];
  /** Their values in a buffer. @param base the place in the buffer of the stretch's first element; 0 if absent */
  read(from: Source, base?: U32): readonly F32[];
  write(to: Target, values: readonly F32[], base?: U32): void;
}

/** Those who go through the stretch together. */
export interface Walkers {
  readonly lane: U32;
  readonly lanes: number;
  /** Which group of that many lanes this is, of how many that share the stretch. Alone if absent. */
  readonly group?: { readonly index: U32; readonly count: U32 };
}

/**
 * Elements 0 to `length` − 1, each in a piece of one invocation. The body may be in a loop at run time, so what adds up is a
 * variable. The length is a multiple of the width.
 */
export function sweep(
  gpu: Gpu,
  { lane, lanes, group }: Walkers,
  length: U32,
  { width, loads }: Reach,
  body: (piece: Piece) => void,
): void {
  const turn = (first: U32 | number, to: U32, count: number): void => {
    const tile = lanes * width * count;
    const own = lane.mul(width).add(first);
    const from = group === undefined ? own : own.add(group.index.mul(tile));
    const step = group === undefined ? tile : group.count.mul(tile);
    gpu.for({ from, to, step }, (at) => body(pieceOf(at, { width, loads: count, apart: lanes * width })));
  };
  if (loads === 1) return turn(0, length, 1);
  // Whole turns of all lanes need no test inside; the rest goes vector by vector.
  const whole = length.and(~(lanes * width * loads - 1) >>> 0);
  turn(0, whole, loads);
  turn(whole, length, 1);
}

interface Shape extends Reach {
  /** From one vector to the next. */
  readonly apart: number;
}

function pieceOf(at: U32, { width, loads, apart }: Shape): Piece {
  const vectors = Array.from({ length: loads }, (_, k) => k * apart);
  const from = (base: U32 | undefined): ViewOptions => ({
    strides: [1],
    offset: base === undefined ? at : base.add(at),
  });
  return {
    get places() {
      return vectors.flatMap((first) => Array.from({ length: width }, (_, k) => at.add(first + k)));
    },
    read(buffer, base) {
      const here = buffer.view(from(base));
      return vectors.flatMap((first) => readVector(here, first, width));
    },
    write(buffer, values, base) {
      const here = buffer.view(from(base));
      for (const [k, first] of vectors.entries())
        writeVector(here, first, values.slice(k * width, (k + 1) * width));
    },
  };
}

/** The same by all invocations of a launch, for any length. */
export function sweepAll(gpu: Gpu, length: U32, reach: Reach, body: (piece: Piece) => void): void {
  const { x, y } = gpu.numWorkgroups;
  const group = { index: gpu.workgroupIndex, count: x.mul(y) };
  const all = { lane: gpu.localIndex, lanes: gpu.workgroupSize[0], group };
  byWidth(gpu, length, reach, (fitting) => sweep(gpu, all, length, fitting, body));
}

/** WebGPU counts no further along one axis. */
const MOST_ON_X = 65_535;

/** At least so many workgroups, over two axes where one is not enough. */
export function spread(workgroups: number): readonly [number, number] {
  const y = Math.ceil(workgroups / MOST_ON_X);
  return [Math.ceil(workgroups / y), y];
}

/** Workgroups with which each invocation has one turn. */
export function oneTurn(
  length: number,
  { threads, width, loads }: Reach & { readonly threads: number },
): readonly [number, number] {
  return spread(Math.ceil(length / (threads * width * loads)));
}
