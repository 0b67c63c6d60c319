/** Runs of neighbouring elements along the head dimension: reading and writing them together. */

import { Vec } from "@evolver/kernel";
import type { F32, Index, U32 } from "@evolver/kernel";
import type { VectorWidth } from "./geometry.ts";

/** An index that is known at build time or at run time. */
export type UIndex = U32 | number;

export function plus(a: UIndex, b: UIndex): UIndex {
  if (typeof a !== "number") return b === 0 ? a : a.add(b);
  if (typeof b === "number") return a + b;
  return a === 0 ? b : b.add(a);
}

export function times(a: UIndex, factor: number): UIndex {
  return typeof a === "number" ? a * factor : factor === 1 ? a : a.mul(factor);
}

interface Source {
  get(...indices: Index[]): F32;
  getVec<N extends 2 | 4>(width: N, ...indices: Index[]): Vec<"f32", N>;
}

export interface Target {
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

/** The first elements of the accesses of `step` that make up a run. */
export const starts = (count: number, step: number): number[] =>
  Array.from({ length: count / step }, (_, k) => k * step);
