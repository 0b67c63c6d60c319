/**
 * Memory as a kernel's body sees it: buffers (global memory of the caller), shared arrays (of the workgroup), views
 * with strides over buffers, and atomic memory. Which methods exist depends on the access that was declared.
 */

import { EvolverError } from "@evolver/base";
import { atomicOps, type AtomicOp } from "../ir/atomics.ts";
import type { AccessWidth, MemoryOrder } from "../ir/nodes.ts";
import { captureSite, type Site } from "../ir/site.ts";
import { elementBytes, isFloat } from "../ir/types.ts";
import type { Access, ElementType, Memory, SharedMemory, Value, WordType } from "../ir/types.ts";
import type { Layout } from "./layout.ts";
import type { Handle, Recorder } from "./recorder.ts";
import { lift, Offset, Scalar, toOffset, wrap, type Index, type Operand, type ScalarOf } from "./scalar.ts";
import { Vec, type VecWidth, type WidthOf } from "./vector.ts";

/** Turns the indices that a user writes into an element offset. */
interface Addressing {
  readonly rank: number;
  offset(indices: readonly Index[]): Index | Offset;
}

const MAX_ACCESS_BYTES = 16;

const flat: Addressing = { rank: 1, offset: ([index]) => index as Index };

/** Elements in memory, addressed by one or more indices. All access goes through here. */
abstract class Elements<E extends ElementType> {
  protected readonly recorder: Recorder;
  protected readonly memory: Memory;
  protected readonly addressing: Addressing;

  constructor(recorder: Recorder, memory: Memory, addressing: Addressing) {
    this.recorder = recorder;
    this.memory = memory;
    this.addressing = addressing;
  }

  protected load(indices: readonly Index[], width: AccessWidth): ScalarOf<E>[] {
    const site = captureSite();
    this.#checkWidth(width, site);
    this.#checkAccess("read", site);
    const index = this.address(indices, site);
    const results = Array.from({ length: width }, () => this.recorder.define(this.memory.element, site));
    const values = Object.freeze(results.map((result) => result.value));
    this.recorder.emit({ kind: "load", memory: this.memory, index, results: values }, site);
    return results.map((result) => wrap(result));
  }

  protected store(indices: readonly Index[], operands: readonly Operand<E>[]): void {
    const site = captureSite();
    this.#checkWidth(operands.length, site);
    this.#checkAccess("write", site);
    const index = this.address(indices, site);
    const values = operands.map((operand) => this.lifted(operand, site));
    this.recorder.emit({ kind: "store", memory: this.memory, index, values: Object.freeze(values) }, site);
  }

  protected address(indices: readonly Index[], site: Site): Value {
    if (indices.length !== this.addressing.rank) {
      throw new EvolverError(
        "INVALID_INDEX",
        `"${this.memory.name}" takes ${this.addressing.rank} ${this.addressing.rank === 1 ? "index" : "indices"}, not ${indices.length}`,
        { where: [site.location] },
      );
    }
    return this.recorder.within(site, () => {
      const offset = this.addressing.offset(indices);
      return this.recorder.use(offset instanceof Scalar ? offset : lift(this.recorder, offset, "u32"), site);
    });
  }

  protected lifted(operand: Operand<E> | Scalar, site: Site): Value {
    const value = this.recorder.use(
      lift(this.recorder, operand as Scalar | number, this.memory.element),
      site,
    );
    if (value.type === this.memory.element) return value;
    throw new EvolverError(
      "TYPE_MISMATCH",
      `"${this.memory.name}" holds ${this.memory.element}, not ${value.type}`,
      {
        where: [site.location],
        hint: `conversions are explicit: to${this.memory.element.toUpperCase()}()`,
      },
    );
  }

  #checkWidth(width: number, site: Site): void {
    const { name, element } = this.memory;
    if (width * elementBytes(element) <= MAX_ACCESS_BYTES) return;
    throw new EvolverError("INVALID_VECTOR", `"${name}" cannot be accessed by ${width} ${element} at once`, {
      where: [site.location],
      hint: "one access moves at most 16 bytes: 4 elements of f32, i32 and u32, 8 of f16 and bf16",
    });
  }

  #checkAccess(action: "read" | "write", site: Site): void {
    const { memory } = this;
    if (memory.space === "shared" || memory.access === "read_write" || memory.access === action) return;
    throw new EvolverError("ACCESS_DENIED", `buffer "${memory.name}" is declared "${memory.access}"`, {
      where: [site.location],
      hint: `declare it buffer(${memory.element}, "read_write") to ${action} it as well`,
    });
  }
}

type WithValue<V> = [...indices: Index[], value: V];

/** Memory that can be read and written. Types of read-only and write-only buffers show fewer methods of the same class. */
class MutableElements<E extends ElementType> extends Elements<E> {
  /** The element at the given indices. */
  get(...indices: Index[]): ScalarOf<E> {
    return this.load(indices, 1)[0] as ScalarOf<E>;
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
    this.store(indicesAndValue.slice(0, -1) as Index[], value.components as readonly Operand<E>[]);
  }
}

export interface ViewOptions {
  /** Elements between neighbours along each dimension, outermost first: run-time or build-time. */
  readonly strides: readonly Index[];
  /** Element offset of the origin. */
  readonly offset?: Index | Offset;
}

/** An n-dimensional view of a buffer. Offsets are exact, also beyond 32 bits. */
export class MutableView<E extends ElementType> extends MutableElements<E> {
  readonly #strides: readonly Index[];
  readonly #origin: Offset | 0;

  constructor(recorder: Recorder, memory: Memory, strides: readonly Index[], origin: Offset | 0) {
    super(recorder, memory, {
      rank: strides.length,
      offset: (indices) => strided(recorder, indices, strides, origin),
    });
    this.#strides = strides;
    this.#origin = origin;
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
    return new MutableView(
      this.recorder,
      this.memory,
      this.#strides.slice(leading.length),
      origin === 0 ? 0 : toOffset(this.recorder, origin),
    );
  }
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
  constructor(recorder: Recorder, memory: Memory) {
    super(recorder, memory, flat);
  }

  /** An n-dimensional view; the last dimension usually has stride 1. */
  view(options: ViewOptions): MutableView<E> {
    const { offset } = options;
    const origin = offset === undefined || offset === 0 ? 0 : toOffset(this.recorder, offset);
    return new MutableView(this.recorder, this.memory, [...options.strides], origin);
  }
}

type Readable = "get" | "getVec";
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
export type Buffer<E extends ElementType, A extends Access> = Pick<MutableBuffer<E>, Allowed<A>> & {
  view(options: ViewOptions): View<E, A>;
};

/** An array in shared memory, addressed through its layout. */
export class SharedArray<E extends ElementType> extends MutableElements<E> {
  readonly layout: Layout;

  readonly #shared: SharedMemory;

  constructor(recorder: Recorder, memory: SharedMemory, layout: Layout) {
    super(recorder, memory, { rank: layout.shape.length, offset: (indices) => layout.offset(indices) });
    this.layout = layout;
    this.#shared = memory;
  }

  /** For gpu.uniformLoad and gpu.copies. */
  override resolve(indices: readonly Index[], site: Site): { memory: SharedMemory; index: Value } {
    return { memory: this.#shared, index: this.address(indices, site) };
  }
}

export interface AtomicOptions {
  /** "relaxed" (the default) orders nothing else; see MemoryOrder. */
  readonly order?: MemoryOrder;
}

/** Integers (or f32 sums) that invocations change atomically; operations return the old value. */
export class AtomicArray<E extends WordType> extends Elements<E> {
  constructor(recorder: Recorder, memory: Memory) {
    super(recorder, memory, flat);
  }

  /** The value now. Spin on it with order "acquire" to see what the storing invocation wrote before. */
  get(index: Index, options?: AtomicOptions): ScalarOf<E> {
    return this.#atomic("load", index, [], options) as ScalarOf<E>;
  }
  /** Replaces the value. With order "release" what this invocation wrote before becomes visible to acquirers. */
  set(index: Index, value: Operand<E>, options?: AtomicOptions): void {
    this.#atomic("store", index, [value], options);
  }
  add(index: Index, value: Operand<E>, options?: AtomicOptions): ScalarOf<E> {
    return this.#atomic("add", index, [value], options) as ScalarOf<E>;
  }
  min(index: Index, value: Operand<E>, options?: AtomicOptions): ScalarOf<E> {
    return this.#atomic("min", index, [value], options) as ScalarOf<E>;
  }
  max(index: Index, value: Operand<E>, options?: AtomicOptions): ScalarOf<E> {
    return this.#atomic("max", index, [value], options) as ScalarOf<E>;
  }
  and(index: Index, value: Operand<E>, options?: AtomicOptions): ScalarOf<E> {
    return this.#atomic("and", index, [value], options) as ScalarOf<E>;
  }
  or(index: Index, value: Operand<E>, options?: AtomicOptions): ScalarOf<E> {
    return this.#atomic("or", index, [value], options) as ScalarOf<E>;
  }
  xor(index: Index, value: Operand<E>, options?: AtomicOptions): ScalarOf<E> {
    return this.#atomic("xor", index, [value], options) as ScalarOf<E>;
  }
  exchange(index: Index, value: Operand<E>, options?: AtomicOptions): ScalarOf<E> {
    return this.#atomic("exchange", index, [value], options) as ScalarOf<E>;
  }
  /** Stores `desired` where the value is `expected`; returns the old value either way. */
  compareExchange(
    index: Index,
    expected: Operand<E>,
    desired: Operand<E>,
    options?: AtomicOptions,
  ): ScalarOf<E> {
    return this.#atomic("compareExchange", index, [expected, desired], options) as ScalarOf<E>;
  }

  #atomic(
    op: AtomicOp,
    index: Index,
    operands: readonly Operand<E>[],
    options: AtomicOptions = {},
  ): Scalar | null {
    const site = captureSite();
    const { element } = this.memory;
    if (isFloat(element) && !atomicOps[op].floats) {
      throw new EvolverError("TYPE_MISMATCH", `atomic ${op} does not exist for ${element}`, {
        where: [site.location],
        hint: "f32 memory has atomic load, store, add and exchange; the rest needs i32 or u32",
      });
    }
    const address = this.address([index], site);
    const values = Object.freeze(operands.map((operand) => this.lifted(operand, site)));
    const result: Handle | null =
      atomicOps[op].access === "write" ? null : this.recorder.define(element, site);
    this.recorder.emit(
      {
        kind: "atomic",
        op,
        memory: this.memory,
        index: address,
        operands: values,
        result: result?.value ?? null,
        order: options.order ?? "relaxed",
      },
      site,
    );
    return result === null ? null : wrap(result);
  }
}
