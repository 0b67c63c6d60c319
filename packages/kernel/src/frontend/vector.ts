/** Vectors of 2 or 4 scalars, or 8 of two bytes: what wide loads give and wide stores take. Immutable; arithmetic is by component. */

import { EvolverError } from "@evolver/base";
import { captureSite, type Site } from "../ir/site.ts";
import type { FloatType, HalfType, NumericType } from "../ir/types.ts";
import { kindOf } from "./given.ts";
import { fma } from "./functions.ts";
import type { BF16, F16, F32, Float, Operand, ScalarOf } from "./scalar.ts";

/** How many components a vector can have. */
export type VecWidth = 2 | 4 | 8;

/** The widths that exist for a type: 16 bytes at most. */
export type WidthOf<T extends NumericType> = T extends HalfType ? VecWidth : 2 | 4;

const WIDTHS: readonly number[] = [2, 4, 8] satisfies VecWidth[];

/** Whether a vector can have so many components. */
export const isVecWidth = (width: number): width is VecWidth => WIDTHS.includes(width);

/** No target moves three elements at once: WGSL gives a vec3 the room of four, and CUDA reads a float3 one by one. */
export const noSuchWidth = (width: number, site: Site): EvolverError =>
  new EvolverError("INVALID_VECTOR", `there are no vectors of ${width}`, {
    where: [site.location],
    hint:
      width === 3
        ? "vectors have 2 or 4 components, or 8 of two bytes: use a vector of 4 with one component unused, or three scalars"
        : "vectors have 2 or 4 components, or 8 of two bytes",
  });

/** A vector of run-time values of one type: what one access of several consecutive elements reads or writes. */
export class Vec<T extends NumericType, N extends VecWidth> {
  readonly width: N;
  readonly #components: readonly ScalarOf<T>[];

  constructor(width: N, components: readonly ScalarOf<T>[]) {
    if (components.length !== width) {
      throw new EvolverError(
        "INVALID_VECTOR",
        `a vector of ${width} needs ${width} components, not ${components.length}`,
        {
          where: [captureSite(true).location],
        },
      );
    }
    this.width = width;
    this.#components = Object.freeze([...components]);
  }

  get components(): readonly ScalarOf<T>[] {
    return this.#components;
  }

  /** Component k, a build-time number. */
  at(k: number): ScalarOf<T> {
    const component = this.#components[k];
    if (component === undefined) {
      throw new EvolverError("INVALID_VECTOR", `a vector of ${this.width} has no component ${String(k)}`, {
        where: [captureSite(true).location],
        hint: `components are 0 to ${this.width - 1}, known at build time`,
      });
    }
    return component;
  }

  get x(): ScalarOf<T> {
    return this.at(0);
  }
  get y(): ScalarOf<T> {
    return this.at(1);
  }
  get z(): ScalarOf<T> {
    return this.at(2);
  }
  get w(): ScalarOf<T> {
    return this.at(3);
  }

  map(change: (component: ScalarOf<T>, k: number) => ScalarOf<T>): Vec<T, N> {
    return new Vec(this.width, this.#components.map(change));
  }

  /** Arithmetic on each component, recorded for one place. */
  #each(change: (component: Arithmetic<T>, k: number) => ScalarOf<T>): Vec<T, N> {
    const { recorder } = this.at(0);
    const record = (): Vec<T, N> => this.map((component, k) => change(arithmetic(component), k));
    return recorder.within(recorder.place(), record);
  }

  add(other: Vec<T, N> | Operand<T>): Vec<T, N> {
    return this.#each((component, k) => component.add(operandAt(other, k)));
  }
  sub(other: Vec<T, N> | Operand<T>): Vec<T, N> {
    return this.#each((component, k) => component.sub(operandAt(other, k)));
  }
  mul(other: Vec<T, N> | Operand<T>): Vec<T, N> {
    return this.#each((component, k) => component.mul(operandAt(other, k)));
  }
}

/** A vector of the given components. */
export function vec<T extends NumericType>(a: ScalarOf<T>, b: ScalarOf<T>): Vec<T, 2>;
export function vec<T extends NumericType>(
  a: ScalarOf<T>,
  b: ScalarOf<T>,
  c: ScalarOf<T>,
  d: ScalarOf<T>,
): Vec<T, 4>;
export function vec<T extends HalfType>(
  ...components: [
    ScalarOf<T>,
    ScalarOf<T>,
    ScalarOf<T>,
    ScalarOf<T>,
    ScalarOf<T>,
    ScalarOf<T>,
    ScalarOf<T>,
    ScalarOf<T>,
  ]
): Vec<T, 8>;
export function vec<T extends NumericType>(...components: ScalarOf<T>[]): Vec<T, VecWidth> {
  const { length } = components;
  if (!isVecWidth(length)) throw noSuchWidth(length, captureSite(true));
  return new Vec(length, components);
}

/** acc + Σ a[k]·b[k], a chain of fma in the order of the components. */
export function dot<N extends VecWidth>(a: Vec<"f32", N>, b: Vec<"f32", N>, acc?: F32 | number): F32;
export function dot<N extends VecWidth>(a: Vec<"f16", N>, b: Vec<"f16", N>, acc?: F16 | number): F16;
export function dot<N extends VecWidth>(a: Vec<"bf16", N>, b: Vec<"bf16", N>, acc?: BF16 | number): BF16;
export function dot(
  a: Vec<FloatType, VecWidth>,
  b: Vec<FloatType, VecWidth>,
  acc: Float | number = 0,
): Float {
  for (const given of [a, b])
    if (!(given instanceof Vec))
      throw new EvolverError("NOT_A_VALUE", `dot takes two vectors, not ${kindOf(given)}`, {
        where: [captureSite(true).location],
        hint: "read one with getVec, or make one: new Vec(2, [a, b])",
      });
  const { recorder } = a.at(0);
  return recorder.within(recorder.place(), () => {
    let total = acc as F32 | number;
    for (let k = 0; k < a.width; k++) total = fma(a.at(k) as F32, b.at(k) as F32, total);
    return total as F32;
  });
}

interface Arithmetic<T extends NumericType> {
  add(other: Operand<T>): ScalarOf<T>;
  sub(other: Operand<T>): ScalarOf<T>;
  mul(other: Operand<T>): ScalarOf<T>;
}

const arithmetic = <T extends NumericType>(value: ScalarOf<T>): Arithmetic<T> =>
  value as unknown as Arithmetic<T>;

function operandAt<T extends NumericType, N extends VecWidth>(
  other: Vec<T, N> | Operand<T>,
  k: number,
): Operand<T> {
  return other instanceof Vec ? (other.at(k) as Operand<T>) : other;
}
