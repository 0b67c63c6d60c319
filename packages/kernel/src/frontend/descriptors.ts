/** The shapes of what users write for types and parameters. */

import type { Access, ElementType, VariableType, WordType } from "../ir/types.ts";

export interface TypeDescriptor<T extends VariableType> {
  readonly kind: "type";
  readonly type: T;
}

/** The type of memory that only atomic operations access. */
export interface AtomicDescriptor<E extends WordType> {
  readonly kind: "atomic";
  readonly type: E;
}

export interface BufferDescriptor<E extends ElementType, A extends Access, Atomic extends boolean> {
  readonly kind: "buffer";
  readonly element: E;
  readonly access: A;
  readonly atomic: Atomic;
}
