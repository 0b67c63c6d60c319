/** Memory that only atomic operations access. */

import { EvolverError } from "@evolver/base";
import { atomicOps, type AtomicOp } from "../ir/atomics.ts";
import type { MemoryOrder } from "../ir/nodes.ts";
import { captureSite } from "../ir/site.ts";
import { isFloat } from "../ir/types.ts";
import type { Memory, WordType } from "../ir/types.ts";
import { Elements, flat } from "./elements.ts";
import type { Handle, Recorder } from "./recorder.ts";
import { wrap, type Index, type Operand, type Scalar, type ScalarOf } from "./scalar.ts";

/** How an atomic operation is ordered with other accesses. */
export interface AtomicOptions {
  /** "relaxed" (the default) orders nothing else; see MemoryOrder. */
  readonly order?: MemoryOrder;
}

/** Integers (or f32 sums) that invocations change atomically; operations return the old value. */
export class AtomicArray<E extends WordType> extends Elements<E> {
  constructor(recorder: Recorder, memory: Memory) {
    super(recorder, memory, flat(null));
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
