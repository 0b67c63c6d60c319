/**
 * What is known of a value across the lanes of a subgroup: that it is uniform (the same in all lanes), affine (a uniform
 * base plus the lane's index times a constant stride) or varying. Patterns form a lattice: `join` gives the strongest
 * one that covers both operands. Which pattern each value has is found by divergence.ts.
 */

export interface LanePattern {
  readonly kind: "uniform" | "affine" | "varying";
  /** The uniform value, or the affine base, is the same for the whole workgroup. */
  readonly workgroupUniform: boolean;
  /** Affine: the difference between neighbouring lanes. Otherwise 0. */
  readonly stride: number;
  /** Integers: the uniform value or the base is a multiple of this power of two (MAX_ALIGN for zero). */
  readonly align: number;
  /** The value, where it is known at build time. */
  readonly constant: number | undefined;
}

/** The largest alignment that is told apart. */
export const MAX_ALIGN = 0x40000000;

export const VARYING: LanePattern = Object.freeze({
  kind: "varying",
  workgroupUniform: false,
  stride: 0,
  align: 1,
  constant: undefined,
});

export const uniform = (workgroupUniform: boolean, align = 1, constant?: number): LanePattern => ({
  kind: "uniform",
  workgroupUniform,
  stride: 0,
  align,
  constant,
});

export const affine = (stride: number, workgroupUniform: boolean, align: number): LanePattern =>
  stride === 0
    ? uniform(workgroupUniform, align)
    : { kind: "affine", workgroupUniform, stride, align: Math.min(align, MAX_ALIGN), constant: undefined };

/** The largest power of two that divides an integer. */
export function alignmentOf(value: number): number {
  if (value === 0) return MAX_ALIGN;
  return Math.min(MAX_ALIGN, ((value & -value) >>> 0) as number);
}

/** The alignment of a product of integers with these alignments. */
export const alignmentOfProduct = (a: number, b: number): number => Math.min(MAX_ALIGN, a * b);

export function constantPattern(value: number | boolean): LanePattern {
  if (typeof value === "boolean") return uniform(true, 1, value ? 1 : 0);
  return uniform(true, Number.isInteger(value) ? alignmentOf(value | 0) : 1, value);
}

export const bothUniform = (a: LanePattern, b: LanePattern): boolean =>
  a.kind === "uniform" && b.kind === "uniform";

/** Whether all lanes agree on `a < b`, and so on `a >= b`. */
export function lanesAgreeOnLess(a: LanePattern, b: LanePattern, width: number): boolean {
  if (bothUniform(a, b)) return true;
  // The lanes of `a` are the numbers from one multiple of the width to the next, and `b` is such a multiple.
  if (a.kind !== "affine" || a.stride !== 1 || b.kind !== "uniform") return false;
  return a.align >= width && b.align >= width;
}

/** The pattern of a + b, or of a − b. */
export function patternOfSum(a: LanePattern, b: LanePattern, sign: 1 | -1): LanePattern {
  if (a.kind === "varying" || b.kind === "varying") return VARYING;
  return affine(
    (a.stride + sign * b.stride) | 0,
    a.workgroupUniform && b.workgroupUniform,
    Math.min(a.align, b.align),
  );
}

/** The pattern of a value that is sometimes the one and sometimes the other, for all lanes together. */
export function join(a: LanePattern, b: LanePattern): LanePattern {
  if (a.kind === "varying" || b.kind === "varying" || a.stride !== b.stride) return VARYING;
  return {
    kind: a.kind,
    workgroupUniform: a.workgroupUniform && b.workgroupUniform,
    stride: a.stride,
    align: Math.min(a.align, b.align),
    constant: undefined,
  };
}

/** Whether two patterns say the same, constants aside. */
export function samePattern(a: LanePattern, b: LanePattern): boolean {
  return (
    a.kind === b.kind &&
    a.workgroupUniform === b.workgroupUniform &&
    a.stride === b.stride &&
    a.align === b.align
  );
}
