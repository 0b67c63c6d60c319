/** Runs of neighbouring elements along the head dimension: reading, writing and copying them together. */

import { f32, Vec } from "@evolver/kernel";
import type { F32, Gpu, Index, U32 } from "@evolver/kernel";
import type { VectorWidth } from "./geometry.ts";
import { plus, quotient, remainder } from "./index-math.ts";

interface Source {
  get(...indices: Index[]): F32;
  getVec<N extends 2 | 4>(width: N, ...indices: Index[]): Vec<"f32", N>;
}

interface Target {
  set(...indicesAndValue: [...indices: Index[], value: F32]): void;
  setVec(...indicesAndValue: [...indices: Index[], value: Vec<"f32", 2 | 4>]): void;
}

export type Column = U32 | number;

/** `count` elements from [...leading, column] on, by accesses of at most `width`. */
export function readRun(
  source: Source,
  leading: readonly Index[],
  column: Column,
  count: VectorWidth,
  width: VectorWidth,
): F32[] {
  if (width === 1) return Array.from({ length: count }, (_, k) => source.get(...leading, plus(column, k)));
  const wide = Math.min(count, width) as 2 | 4;
  return pieces(count, wide).flatMap((k) => source.getVec(wide, ...leading, plus(column, k)).components);
}

/** Writes neighbouring elements from [...leading, column] on, by accesses of at most `width`. */
export function writeRun(
  target: Target,
  leading: readonly Index[],
  column: Column,
  values: readonly F32[],
  width: VectorWidth,
): void {
  const wide = Math.min(values.length, width);
  for (const k of pieces(values.length, wide)) {
    if (wide === 1) target.set(...leading, plus(column, k), values[k] as F32);
    else target.setVec(...leading, plus(column, k), new Vec(wide as 2 | 4, values.slice(k, k + wide)));
  }
}

const pieces = (count: number, width: number): number[] =>
  Array.from({ length: count / width }, (_, k) => k * width);

/**
 * Deals the runs of a tile of `rows` × `columns` elements to all invocations of the workgroup: neighbouring
 * invocations get neighbouring runs, so that global accesses coalesce. The flow outside `body` is uniform.
 */
export function forEachRun(
  gpu: Gpu,
  { rows, columns, width }: { rows: number; columns: number; width: VectorWidth },
  body: (row: U32, column: U32) => void,
): void {
  const invocations = gpu.workgroupSize[0];
  const runsPerRow = columns / width;
  const runs = rows * runsPerRow;
  const pass = (start: U32 | number): void => {
    const run = plus(start, gpu.localIndex) as U32;
    const place = (): void => body(quotient(run, runsPerRow), remainder(run, runsPerRow).mul(width));
    if (runs % invocations === 0) place();
    else gpu.if(run.lt(runs), place);
  };
  if (runs <= invocations) pass(0);
  else gpu.for({ from: 0, to: runs, step: invocations, unroll: 4 }, pass);
}

export function zeros(gpu: Gpu, count: VectorWidth): F32[] {
  return Array.from({ length: count }, () => gpu.constant(f32, 0));
}
