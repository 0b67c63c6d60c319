/**
 * How a value lies across the lanes of a subgroup: one scalar for all, an affine form (scalar + lane · constant), or a
 * value a lane; and how such forms combine. Forms of values are found by classify.ts.
 */

export interface Form {
  readonly kind: "scalar" | "affine" | "lanes";
  /** The scalar is the same for the whole workgroup. */
  readonly wide: boolean;
  /** Affine: the difference between neighbouring lanes. Otherwise 0. */
  readonly stride: number;
  /** Integers: the scalar is known to be a multiple of this power of two (MAX_ALIGN for zero). */
  readonly align: number;
  /** Known at build time. */
  readonly constant: number | undefined;
}

/** The largest alignment that is told apart. */
export const MAX_ALIGN = 0x40000000;
export const LANES: Form = { kind: "lanes", wide: false, stride: 0, align: 1, constant: undefined };

export const scalar = (wide: boolean, align = 1, constant?: number): Form => ({
  kind: "scalar",
  wide,
  stride: 0,
  align,
  constant,
});

export const affine = (stride: number, wide: boolean, align: number): Form =>
  stride === 0
    ? scalar(wide, align)
    : { kind: "affine", wide, stride, align: Math.min(align, MAX_ALIGN), constant: undefined };

/** The largest power of two that divides an integer. */
export function alignmentOf(value: number): number {
  if (value === 0) return MAX_ALIGN;
  return Math.min(MAX_ALIGN, ((value & -value) >>> 0) as number);
}

export const bothScalar = (a: Form, b: Form): boolean => a.kind === "scalar" && b.kind === "scalar";

export function constantForm(value: number | boolean): Form {
  if (typeof value === "boolean") return scalar(true, 1, value ? 1 : 0);
  return scalar(true, Number.isInteger(value) ? alignmentOf(value | 0) : 1, value);
}

export function alignedProduct(a: number, b: number): number {
  return Math.min(MAX_ALIGN, a * b);
}

export function affineSum(a: Form, b: Form, sign: 1 | -1): Form {
  if (a.kind === "lanes" || b.kind === "lanes") return LANES;
  return affine((a.stride + sign * b.stride) | 0, a.wide && b.wide, Math.min(a.align, b.align));
}

export function join(a: Form, b: Form): Form {
  if (a.kind === "lanes" || b.kind === "lanes" || a.stride !== b.stride) return LANES;
  return {
    kind: a.kind,
    wide: a.wide && b.wide,
    stride: a.stride,
    align: Math.min(a.align, b.align),
    constant: undefined,
  };
}

export function sameForm(a: Form, b: Form): boolean {
  return a.kind === b.kind && a.wide === b.wide && a.stride === b.stride && a.align === b.align;
}
