/** Descriptors of types and parameters, as users write them in `kernel(...)`. */

import type { Access, ElementType, VariableType, WordType } from "../ir/types.ts";
import type { AtomicDescriptor, BufferDescriptor, TypeDescriptor } from "./descriptors.ts";
import { wantType } from "./given.ts";
import type { Fields, StructBufferDescriptor, StructDescriptor } from "./struct.ts";

/** IEEE binary32: JavaScript's Math.fround. CUDA and HIP: float. */
export const f32: TypeDescriptor<"f32"> = Object.freeze({ kind: "type", type: "f32" });
/** Integers of 32 bits with a sign; they wrap round. CUDA and HIP: int. */
export const i32: TypeDescriptor<"i32"> = Object.freeze({ kind: "type", type: "i32" });
/** Integers of 32 bits without a sign; they wrap round. CUDA and HIP: unsigned int. */
export const u32: TypeDescriptor<"u32"> = Object.freeze({ kind: "type", type: "u32" });
/** IEEE binary16, for buffers, shared memory, variables and values; not for scalar parameters. */
export const f16: TypeDescriptor<"f16"> = Object.freeze({ kind: "type", type: "f16" });
/** bfloat16, the upper half of an f32; can be used where f16 can. */
export const bf16: TypeDescriptor<"bf16"> = Object.freeze({ kind: "type", type: "bf16" });
/** For variables and values only: a bool cannot live in a buffer or be a parameter. */
export const bool: TypeDescriptor<"bool"> = Object.freeze({ kind: "type", type: "bool" });

/** The descriptor of each type, by its name. */
export const descriptors: { readonly [T in VariableType]: TypeDescriptor<T> } = Object.freeze({
  f32,
  i32,
  u32,
  f16,
  bf16,
  bool,
});

/** The type of memory that only atomic operations access, for `buffer` and `gpu.shared`. */
export function atomic<E extends WordType>(element: TypeDescriptor<E>): AtomicDescriptor<E> {
  return Object.freeze({ kind: "atomic", type: element.type });
}

/** Global memory: `buffer(f32)` is read-only, `buffer(f32, "read_write")` not; `buffer(atomic(u32))` is atomic. */
export function buffer<E extends WordType>(
  element: AtomicDescriptor<E>,
): BufferDescriptor<E, "read_write", true>;
// Apart from the next one: a default for A would give way to what `params` of a kernel expects, which is any access.
export function buffer<E extends ElementType>(element: TypeDescriptor<E>): BufferDescriptor<E, "read", false>;
export function buffer<E extends ElementType, A extends Access>(
  element: TypeDescriptor<E>,
  access: A,
): BufferDescriptor<E, A, false>;
export function buffer<F extends Fields>(element: StructDescriptor<F>): StructBufferDescriptor<F, "read">;
export function buffer<F extends Fields, A extends Access>(
  element: StructDescriptor<F>,
  access: A,
): StructBufferDescriptor<F, A>;
export function buffer(
  element: TypeDescriptor<ElementType> | AtomicDescriptor<WordType> | StructDescriptor,
  access?: Access,
): BufferDescriptor<ElementType, Access, boolean> {
  const isAtomic = element?.kind === "atomic";
  if (element?.kind !== "struct") wantType(element, "buffer()");
  return Object.freeze({
    kind: "buffer",
    ...(element.kind === "struct"
      ? { element: element.element, struct: element }
      : { element: element.type }),
    access: access ?? (isAtomic ? "read_write" : "read"),
    atomic: isAtomic,
  });
}

/** What a parameter can be: a scalar type, or what `buffer(…)` gives. */
export type ParamDescriptor = TypeDescriptor<WordType> | BufferDescriptor<ElementType, Access, boolean>;

/** The parameters of a kernel by name, in order. */
export type Params = Readonly<Record<string, ParamDescriptor>>;

/** What a launch must pass for a buffer parameter; devices give such objects. */
export interface BufferArgument<E extends ElementType = ElementType> {
  readonly element: E;
  readonly length: number;
}

/** What a launch passes: a number for each scalar, a buffer of the same element type for each buffer. */
export type Args<P extends Params> = {
  readonly [K in keyof P]: P[K] extends BufferDescriptor<infer E, Access, boolean>
    ? BufferArgument<E>
    : number;
};
