/** The shapes of what users write for types and parameters. */

import type { Access, ElementType, VariableType, WordType } from "../ir/types.ts";

/** A type as a value: `f32`, `i32`, `u32` and others, for parameters, variables and memory. */
export interface TypeDescriptor<T extends VariableType> {
  readonly kind: "type";
  readonly type: T;
}

/** The type of memory that only atomic operations access. */
export interface AtomicDescriptor<E extends WordType> {
  readonly kind: "atomic";
  readonly type: E;
}

/** What `buffer(…)` gives: a parameter in global memory. */
export interface BufferDescriptor<E extends ElementType, A extends Access, Atomic extends boolean> {
  readonly kind: "buffer";
  readonly element: E;
  readonly access: A;
  readonly atomic: Atomic;
}
