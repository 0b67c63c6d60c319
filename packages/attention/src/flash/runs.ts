/** Runs of neighbouring elements along the head dimension: reading, writing and copying them together. */

import { f32, Vec } from "@evolver/kernel";
import type { Bool, F32, Gpu, Index, U32 } from "@evolver/kernel";
import { Columns } from "./columns.ts";
import type { Geometry, VectorWidth } from "./geometry.ts";

/** An index that is known at build time or at run time. */
export type UIndex = U32 | number;

export function plus(a: UIndex, b: UIndex): UIndex {
  if (typeof a !== "number") return a.add(b);
  return typeof b === "number" ? a + b : b.add(a);
}

interface Source {
  get(...indices: Index[]): F32;
  getVec<N extends 2 | 4>(width: N, ...indices: Index[]): Vec<"f32", N>;
}

interface Target {
  set(...indicesAndValue: [...indices: Index[], value: F32]): void;
  setVec(...indicesAndValue: [...indices: Index[], value: Vec<"f32", 2 | 4>]): void;
}

/** `count` elements from [...leading, column] on, by accesses of at most `width`. */
export function readRun(
  source: Source,
  leading: readonly Index[],
  column: UIndex,
  count: VectorWidth,
  width: VectorWidth,
): F32[] {
  const step = Math.min(count, width);
  return starts(count, step).flatMap((k) => {
    const at = [...leading, plus(column, k)];
    return step === 1 ? source.get(...at) : source.getVec(step as 2 | 4, ...at).components;
  });
}

/** Writes neighbouring elements from [...leading, column] on, by accesses of at most `width`. */
export function writeRun(
  target: Target,
  leading: readonly Index[],
  column: UIndex,
  values: readonly F32[],
  width: VectorWidth,
): void {
  const step = Math.min(values.length, width);
  for (const k of starts(values.length, step)) {
    const at = [...leading, plus(column, k)];
    if (step === 1) target.set(...at, values[k] as F32);
    else target.setVec(...at, new Vec(step as 2 | 4, values.slice(k, k + step)));
  }
}

const starts = (count: number, step: number): number[] =>
  Array.from({ length: count / step }, (_, k) => k * step);

export interface RowCopy {
  readonly to: Target;
  /** `geometry.columns.width` elements of a row that exists. */
  read(row: U32, column: U32): F32[];
}

/**
 * Fills tiles of `rows` rows in shared memory by all invocations: a subgroup a row, its lanes along the columns. Rows
 * that do not exist become zeros. Needs a barrier before and after.
 */
export function copyRows(
  gpu: Gpu,
  geometry: Geometry,
  rows: number,
  exists: (row: U32) => Bool,
  copies: readonly RowCopy[],
): void {
  const { subgroups, columns } = geometry;
  const lanes = new Columns(gpu, geometry);
  const write = (row: U32, to: Target, values: (column: U32) => F32[]): void =>
    lanes.forEach((column) => writeRun(to, [row], column, values(column), columns.width));
  const zeros = (): F32[] => Array.from({ length: columns.width }, () => gpu.constant(f32, 0));
  const copy = (row: U32): void =>
    gpu.if(
      exists(row),
      () => copies.forEach(({ to, read }) => write(row, to, (column) => read(row, column))),
      () => copies.forEach(({ to }) => write(row, to, zeros)),
    );
  const pass = (first: UIndex): void => {
    const row = plus(first, gpu.subgroupId) as U32;
    if (rows % subgroups === 0) copy(row);
    else gpu.if(row.lt(rows), () => copy(row));
  };
  if (rows <= subgroups) pass(0);
  else gpu.for({ from: 0, to: rows, step: subgroups, unroll: 4 }, pass);
}
