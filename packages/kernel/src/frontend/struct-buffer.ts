/** A buffer of structs as a kernel's body sees it: whole structs, or one field of them. */

import type { Access, GlobalMemory, WordType } from "../ir/types.ts";
import { wholeOr } from "./guarded.ts";
import { MutableBuffer, MutableView } from "./memory.ts";
import { descriptors } from "./params.ts";
import type { Recorder } from "./recorder.ts";
import { lift, Scalar, wrap, type F32, type Index, type Operand, type ScalarOf, type U32 } from "./scalar.ts";
import type { Fields, StructDescriptor } from "./struct.ts";
import { isVecWidth, Vec } from "./vector.ts";

/** The values of a struct's fields. */
export type StructValues<F extends Fields> = { readonly [K in keyof F]: ScalarOf<F[K]["type"]> };

/** What is written to a struct: a value or a literal for each field. */
export type StructOperands<F extends Fields> = { readonly [K in keyof F]: Operand<F[K]["type"]> };

/** One field of all structs of a buffer. */
export class MutableField<T extends WordType> {
  readonly #buffer: MutableStructs<Fields>;
  readonly #type: T;
  readonly #k: number;

  constructor(buffer: MutableStructs<Fields>, type: T, k: number) {
    this.#buffer = buffer;
    this.#type = type;
    this.#k = k;
  }

  get(i: Index): ScalarOf<T> {
    return this.#buffer.readField(i, this.#k, this.#type) as ScalarOf<T>;
  }

  /** The field where there is such a struct, and the value elsewhere: a branch with the load inside it. */
  getOr(i: Index, otherwise: Operand<T>): ScalarOf<T> {
    const { recorder } = this.#buffer;
    return recorder.within(recorder.place(), () => {
      const load = (): Scalar[] => [this.get(i)];
      const given = [{ type: this.#type, value: otherwise as Scalar | number }];
      return wholeOr(recorder, { index: i, extent: this.#buffer.length }, load, given)[0] as ScalarOf<T>;
    });
  }

  set(i: Index, value: Operand<T>): void {
    this.#buffer.writeField(i, this.#k, value as Scalar | number, this.#type);
  }
}

/** Types of read-only and write-only buffers show fewer methods of this class. */
export class MutableStructs<F extends Fields> {
  /** @internal */
  readonly recorder: Recorder;
  readonly #struct: StructDescriptor<F>;
  readonly #entries: readonly (readonly [name: string, type: WordType])[];
  readonly #buffer: MutableBuffer<WordType>;
  readonly #view: MutableView<WordType>;

  constructor(recorder: Recorder, memory: GlobalMemory, struct: StructDescriptor<F>) {
    this.recorder = recorder;
    this.#struct = struct;
    this.#entries = Object.entries(struct.fields).map(([name, { type }]) => [name, type] as const);
    this.#buffer = new MutableBuffer(recorder, memory);
    this.#view = this.#buffer.view({ strides: [struct.stride, 1] });
  }

  /** The number of whole structs that the buffer of a launch has. */
  get length(): U32 {
    return this.recorder.within(this.recorder.place(), () =>
      this.#buffer.length.divTrunc(this.#struct.stride),
    );
  }

  /** All fields of a struct, read at once where there are two or four. */
  get(i: Index): StructValues<F> {
    const { recorder } = this;
    return recorder.within(recorder.place(), () => this.#record(this.#read(i)));
  }

  /** The fields where there is such a struct, and the values given elsewhere: a branch with the loads inside it. */
  getOr(i: Index, otherwise: StructOperands<F>): StructValues<F> {
    const { recorder } = this;
    return recorder.within(recorder.place(), () => {
      const given = this.#entries.map(([name, type]) => ({
        type,
        value: otherwise[name] as Scalar | number,
      }));
      const bound = { index: i, extent: this.length };
      return this.#record(wholeOr(recorder, bound, () => this.#read(i), given));
    });
  }

  /** Writes all fields of a struct. */
  set(i: Index, values: StructOperands<F>): void {
    const { recorder } = this;
    recorder.within(recorder.place(), () => {
      const raw = this.#entries.map(([name, type]) => this.#toRaw(values[name] as Scalar | number, type));
      const { length } = raw;
      if (isVecWidth(length) && length <= 4)
        return this.#view.setVec(i, 0, new Vec(length, raw as never) as never);
      for (const [k, value] of raw.entries()) this.#view.set(i, k, value as Operand<WordType>);
    });
  }

  /** One field of each struct, to read or write it alone. */
  field<K extends keyof F & string>(name: K): MutableField<F[K]["type"]> {
    const k = this.#entries.findIndex(([field]) => field === name);
    const type = (this.#entries[k] as readonly [string, F[K]["type"]])[1];
    return new MutableField(this as unknown as MutableStructs<Fields>, type, k);
  }

  readField(i: Index, k: number, type: WordType): Scalar {
    const { recorder } = this;
    return recorder.within(recorder.place(), () => this.#fromRaw(this.#view.get(i, k), type));
  }

  writeField(i: Index, k: number, value: Scalar | number, type: WordType): void {
    const { recorder } = this;
    recorder.within(recorder.place(), () =>
      this.#view.set(i, k, this.#toRaw(value, type) as Operand<WordType>),
    );
  }

  #read(i: Index): Scalar[] {
    const { length } = this.#entries;
    const raw: Scalar[] = [];
    if (isVecWidth(length) && length <= 4) raw.push(...this.#view.getVec(length as 2 | 4, i, 0).components);
    else for (let k = 0; k < length; k++) raw.push(this.#view.get(i, k));
    return raw.map((value, k) => this.#fromRaw(value, (this.#entries[k] as readonly [string, WordType])[1]));
  }

  #record(values: readonly Scalar[]): StructValues<F> {
    return Object.fromEntries(this.#entries.map(([name], k) => [name, values[k]])) as StructValues<F>;
  }

  /** A field as the buffer holds it, and back. */
  #toRaw(value: Scalar | number, type: WordType): Scalar {
    const typed = wrap<F32>(lift(this.recorder, value, type));
    const { element } = this.#struct;
    return typed.value.type !== type || type === element
      ? typed
      : typed.bitcast(descriptors[element as WordType]);
  }

  #fromRaw(value: Scalar, type: WordType): Scalar {
    return value.type === type ? value : (value as F32).bitcast(descriptors[type]);
  }
}

type Allowed<A extends Access> = A extends "read"
  ? "get" | "getOr"
  : A extends "write"
    ? "set"
    : "get" | "getOr" | "set";

/** A buffer of structs with the methods that its access allows. */
export type StructBuffer<F extends Fields, A extends Access> = Pick<
  MutableStructs<F>,
  Allowed<A> | "length"
> & {
  field<K extends keyof F & string>(name: K): Pick<MutableField<F[K]["type"]>, Allowed<A>>;
};
