/**
 * Memory as a kernel's body sees it: buffers (global memory of the caller), shared arrays (of the workgroup), and views
 * with strides over buffers. Which methods exist depends on the access that was declared.
 */

import { EvolverError } from "@evolver/base";
import { captureSite, type Site } from "../ir/site.ts";
import type { Access, ElementType, GlobalMemory, Memory, SharedMemory, Value } from "../ir/types.ts";
import { Elements, flat, zipped, type Limit } from "./elements.ts";
import type { Bound } from "./guarded.ts";
import { kindOf } from "./given.ts";
import type { Layout } from "./layout.ts";
import type { Recorder } from "./recorder.ts";
import { Offset, toOffset, wrap, type Index, type Operand, type ScalarOf, type U32 } from "./scalar.ts";
import { Vec, type VecWidth, type WidthOf } from "./vector.ts";

type WithValue<V> = [...indices: Index[], value: V];

/** Memory that can be read and written. Types of read-only and write-only buffers show fewer methods of the same class. */
class MutableElements<E extends ElementType> extends Elements<E> {
  /** The element at the given indices. */
  get(...indices: Index[]): ScalarOf<E> {
    return this.load(indices, 1)[0] as ScalarOf<E>;
  }

  /** The element at the given indices where these are inside, and the value that comes last elsewhere: a branch. */
  getOr(...indicesAndValue: WithValue<Operand<E>>): ScalarOf<E> {
    const otherwise = indicesAndValue.at(-1) as Operand<E>;
    const indices = indicesAndValue.slice(0, -1) as Index[];
    return this.loadOr(indices, 1, otherwise, captureSite())[0] as ScalarOf<E>;
  }

  /** `width` consecutive elements, and the value or the vector's component that comes last for each that is not inside. */
  getVecOr<N extends WidthOf<E>>(width: N, ...indicesAndValue: WithValue<Operand<E> | Vec<E, N>>): Vec<E, N> {
    const given = indicesAndValue.at(-1) as Operand<E> | Vec<E, N>;
    const otherwise = given instanceof Vec ? (given.components as readonly Operand<E>[]) : given;
    const indices = indicesAndValue.slice(0, -1) as Index[];
    return new Vec(width, this.loadOr(indices, width, otherwise, captureSite()));
  }

  /** `width` consecutive elements from the given indices on; the offset is a multiple of the width. */
  getVec<N extends WidthOf<E>>(width: N, ...indices: Index[]): Vec<E, N> {
    return new Vec(width, this.load(indices, width));
  }

  /** Where an element is, for operations that move it without returning its value. */
  resolve(indices: readonly Index[], site: Site): { memory: Memory; index: Value } {
    return { memory: this.memory, index: this.address(indices, site) };
  }

  /** Writes the element at the given indices; the value comes last. */
  set(...indicesAndValue: WithValue<Operand<E>>): void {
    const value = indicesAndValue.at(-1) as Operand<E>;
    this.store(indicesAndValue.slice(0, -1) as Index[], [value]);
  }

  /** Writes consecutive elements from the given indices on; the offset is a multiple of the vector's width. */
  setVec(...indicesAndValue: WithValue<Vec<E, VecWidth>>): void {
    const value = indicesAndValue.at(-1) as Vec<E, VecWidth>;
    if (!(value instanceof Vec))
      throw new EvolverError("NOT_A_VALUE", `${kindOf(value)} stands where a vector is wanted`, {
        where: [captureSite().location],
        hint: "make one with vec(a, b), or write a single value with set",
      });
    this.store(indicesAndValue.slice(0, -1) as Index[], value.components as readonly Operand<E>[]);
  }
}

/** How a view of a buffer finds its elements. */
export interface ViewOptions {
  /** Elements between neighbours along each dimension, outermost first: run-time or build-time. */
  readonly strides: readonly Index[];
  /**
   * Indices along each dimension, from 0: run-time or build-time. `getOr` needs them, and the simulator reports an index beyond.
   * Without extents it takes rows to be as long as they are apart: along a stride of 1, an index stays below the others.
   */
  readonly extents?: readonly Index[];
  /** Element offset of the origin. */
  readonly offset?: Index | Offset;
}

interface Strided {
  readonly strides: readonly Index[];
  readonly origin: Offset | 0;
  readonly extents: readonly Index[] | null;
  readonly fixed?: readonly Bound[];
  /** The strides of the dimensions that at() has fixed, where extents are not known. */
  readonly outer?: readonly Index[];
}

/** An n-dimensional view of a buffer. Offsets are exact, also beyond 32 bits. */
export class MutableView<E extends ElementType> extends MutableElements<E> {
  readonly #strides: readonly Index[];
  readonly #origin: Offset | 0;
  readonly #extents: readonly Index[] | null;
  /** The dimensions that at() fixed, where extents are known. */
  readonly #fixed: readonly Bound[];
  readonly #outer: readonly Index[];

  constructor(recorder: Recorder, memory: Memory, view: Strided) {
    const { strides, origin, extents, fixed = [], outer = [] } = view;
    super(recorder, memory, {
      rank: strides.length,
      offset: (indices) => strided(recorder, indices, strides, origin),
      bounds: (indices) => (extents === null ? null : [...fixed, ...zipped(indices, extents)]),
      limits: (indices) =>
        extents === null
          ? limitsOfRows(outer, strides, indices)
          : limitsOf([...fixed, ...zipped(indices, extents)], strides.at(-1) === 1),
    });
    this.#strides = strides;
    this.#origin = origin;
    this.#extents = extents;
    this.#fixed = fixed;
    this.#outer = outer;
  }

  get rank(): number {
    return this.#strides.length;
  }

  /** The view of the remaining dimensions when the leading indices are fixed; its origin is computed once, here. */
  at(...leading: Index[]): MutableView<E> {
    if (leading.length >= this.#strides.length) {
      throw new EvolverError(
        "INVALID_INDEX",
        `at() fixes fewer than all ${this.#strides.length} dimensions of a view`,
        {
          where: [captureSite(true).location],
          hint: "use get() or set() for one element",
        },
      );
    }
    const used = this.#strides.slice(0, leading.length);
    const origin = strided(this.recorder, leading, used, this.#origin);
    const extents = this.#extents;
    return new MutableView(this.recorder, this.memory, {
      strides: this.#strides.slice(leading.length),
      origin: origin === 0 ? 0 : toOffset(this.recorder, origin),
      extents: extents?.slice(leading.length) ?? null,
      fixed: extents === null ? [] : [...this.#fixed, ...zipped(leading, extents)],
      outer: [...this.#outer, ...used],
    });
  }
}

/** Bounds of dimension 0 and on. @param isDense whether a vector lies along the last one */
const limitsOf = (bounds: readonly Bound[], isDense: boolean): Limit[] =>
  bounds.map((bound, dimension) => ({
    ...bound,
    dimension,
    by: "extent",
    isAlong: isDense && dimension === bounds.length - 1,
  }));

/**
 * Where no extents are known: along a stride of 1 stands a row, which is as long as rows are apart. That at() fixed the
 * dimensions around it counts where no other is left to say so.
 */
function limitsOfRows(
  outer: readonly Index[],
  strides: readonly Index[],
  indices: readonly Index[],
): Limit[] {
  const around = strides.length === 1 ? outer : [];
  return indices.flatMap((index, k) => {
    if (strides[k] !== 1) return [];
    const others = [...around, ...strides.filter((_, other) => other !== k)];
    return others.flatMap((extent): Limit[] => {
      const says = !(typeof extent === "number" && extent <= 1);
      const dimension = outer.length + k;
      return says ? [{ dimension, index, extent, by: "stride", isAlong: true }] : [];
    });
  });
}

function strided(
  recorder: Recorder,
  indices: readonly Index[],
  strides: readonly Index[],
  origin: Offset | 0,
): Offset | 0 {
  let total: Offset | 0 = origin;
  let known = 0;
  for (let k = 0; k < indices.length; k++) {
    const index = indices[k] as Index;
    const stride = strides[k] as Index;
    if (typeof index === "number" && typeof stride === "number") {
      known += index * stride;
      continue;
    }
    if (index === 0 || stride === 0) continue;
    const term: Offset =
      stride === 1
        ? toOffset(recorder, index)
        : index === 1
          ? toOffset(recorder, stride)
          : toOffset(recorder, index).mul(toOffset(recorder, stride));
    total = total === 0 ? term : total.add(term);
  }
  if (known === 0) return total;
  const constant = toOffset(recorder, known);
  return total === 0 ? constant : total.add(constant);
}

/** A buffer parameter, addressed by one index or through views. */
export class MutableBuffer<E extends ElementType> extends MutableElements<E> {
  readonly #global: GlobalMemory;

  constructor(recorder: Recorder, memory: GlobalMemory) {
    super(
      recorder,
      memory,
      flat(() => wrap(recorder.length(memory))),
    );
    this.#global = memory;
  }

  /** The number of elements of the buffer that a launch passes. Emitted code has a parameter for it. */
  get length(): U32 {
    return wrap(this.recorder.length(this.#global));
  }

  /** An n-dimensional view; the last dimension usually has stride 1. */
  view(options: ViewOptions): MutableView<E> {
    if (!Array.isArray((options as Partial<ViewOptions> | null | undefined)?.strides))
      throw new EvolverError("INVALID_VIEW", `a view of "${this.memory.name}" needs strides`, {
        where: [captureSite().location],
        hint: "write view({ strides: [columns, 1] }): elements between neighbours along each dimension",
      });
    const { strides, extents, offset } = options;
    if (extents !== undefined && extents.length !== strides.length)
      throw new EvolverError(
        "INVALID_VIEW",
        `a view of "${this.memory.name}" has ${strides.length} strides and ${extents.length} extents`,
        { where: [captureSite().location], hint: "give one extent for each stride" },
      );
    const origin = offset === undefined || offset === 0 ? 0 : toOffset(this.recorder, offset);
    return new MutableView(this.recorder, this.memory, {
      strides: [...strides],
      origin,
      extents: extents === undefined ? null : [...extents],
    });
  }
}

type Readable = "get" | "getVec" | "getOr" | "getVecOr";
type Writable = "set" | "setVec";
type Allowed<A extends Access> = A extends "read"
  ? Readable
  : A extends "write"
    ? Writable
    : Readable | Writable;

/** A view with the methods that its buffer's access allows. */
export type View<E extends ElementType, A extends Access> = Pick<MutableView<E>, Allowed<A> | "rank"> & {
  at(...leading: Index[]): View<E, A>;
};

/** A buffer with the methods that its access allows. */
export type Buffer<E extends ElementType, A extends Access> = Pick<
  MutableBuffer<E>,
  Allowed<A> | "length"
> & {
  view(options: ViewOptions): View<E, A>;
};

/** An array in shared memory, addressed through its layout. */
export class SharedArray<E extends ElementType> extends MutableElements<E> {
  readonly layout: Layout;

  readonly #shared: SharedMemory;

  constructor(recorder: Recorder, memory: SharedMemory, layout: Layout) {
    super(recorder, memory, {
      rank: layout.shape.length,
      offset: (indices) => layout.offset(indices),
      bounds: (indices) => zipped(indices, layout.shape),
      // Beyond the first extent an index is beyond the array too.
      limits: (indices) => limitsOf(zipped(indices, layout.shape), true).slice(1),
    });
    this.layout = layout;
    this.#shared = memory;
  }

  /** For gpu.uniformLoad and gpu.copies. */
  override resolve(indices: readonly Index[], site: Site): { memory: SharedMemory; index: Value } {
    return { memory: this.#shared, index: this.address(indices, site) };
  }
}
