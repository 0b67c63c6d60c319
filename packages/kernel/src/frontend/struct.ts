/**
 * Structs of scalars, as parameters are declared with them and as the host lays them out: `struct({ x: f32, id: u32 })`. In
 * memory the fields of one struct stand one after another in the order of their declaration, four bytes each, without
 * padding, and so do the structs. The buffer holds the type that all fields have, or else u32, which holds the bits of any.
 */

import { EvolverError } from "@evolver/base";
import { captureSite } from "../ir/site.ts";
import { scalarTypes, wordTypes, type Access, type ElementArray, type WordType } from "../ir/types.ts";
import type { BufferDescriptor, TypeDescriptor } from "./descriptors.ts";

/** The fields of a struct, in order. */
export type Fields = Readonly<Record<string, TypeDescriptor<WordType>>>;

type FieldType<F extends Fields> = F[keyof F]["type"];
type IsUnion<T, All = T> = T extends unknown ? ([All] extends [T] ? false : true) : never;

/** What the buffer holds. */
type StructElement<F extends Fields> =
  true extends IsUnion<FieldType<F>> ? "u32" : Extract<FieldType<F>, WordType>;

/** A struct on the host: a number for each field. */
export type StructRecord<F extends Fields> = { readonly [K in keyof F]: number };

/** What `struct(…)` gives: a type for `buffer`, and what the host packs and unpacks records with. */
export interface StructDescriptor<F extends Fields = Fields> {
  readonly kind: "struct";
  readonly fields: F;
  /** The element type of the buffer, for `device.createBuffer`. */
  readonly element: StructElement<F>;
  /** Elements of the buffer that one struct takes; four bytes each. */
  readonly stride: number;
  /** Of each field: its place in a struct, in bytes. */
  readonly offsets: { readonly [K in keyof F]: number };
  /** The contents of a buffer that holds these structs. */
  pack(records: readonly StructRecord<F>[]): ElementArray<StructElement<F>>;
  /** The structs that the contents of a buffer hold. */
  unpack(contents: ElementArray<StructElement<F>>): StructRecord<F>[];
}

/** A buffer of structs. */
export interface StructBufferDescriptor<F extends Fields, A extends Access> extends BufferDescriptor<
  StructElement<F>,
  A,
  false
> {
  readonly struct: StructDescriptor<F>;
}

/** A type of structs, for `buffer(…)`. Its fields are f32, i32 and u32. */
export function struct<const F extends Fields>(fields: F): StructDescriptor<F> {
  const entries = Object.entries(fields);
  const bad = entries.find(([, { type }]) => !wordTypes.includes(type));
  if (bad !== undefined || entries.length === 0)
    throw new EvolverError(
      "INVALID_STRUCT",
      bad === undefined ? "a struct has at least one field" : `the field "${bad[0]}" is ${bad[1].type}`,
      {
        where: [captureSite().location],
        hint: `fields are ${wordTypes.join(", ")}: keep types of two bytes in a buffer of their own`,
      },
    );
  const types = entries.map(([, { type }]) => type);
  const element = types.every((type) => type === types[0]) ? (types[0] as WordType) : "u32";
  return Object.freeze({
    kind: "struct",
    fields,
    element: element as StructElement<F>,
    stride: entries.length,
    offsets: Object.fromEntries(entries.map(([name], k) => [name, 4 * k])) as StructDescriptor<F>["offsets"],
    pack: (records: readonly StructRecord<F>[]) =>
      pack(entries, element, records) as ElementArray<StructElement<F>>,
    unpack: (contents: Words) => unpack(entries, contents) as StructRecord<F>[],
  });
}

type Entries = readonly (readonly [name: string, descriptor: TypeDescriptor<WordType>])[];
type Words = Float32Array | Int32Array | Uint32Array;
type NumberRecord = Readonly<Record<string, number>>;

function pack(entries: Entries, element: WordType, records: readonly NumberRecord[]): Words {
  const contents = new scalarTypes[element].array(records.length * entries.length);
  const view = new DataView(contents.buffer);
  for (const [i, record] of records.entries())
    for (const [k, [name, { type }]] of entries.entries()) {
      const value = record[name];
      if (typeof value !== "number" || scalarTypes[type].literal(value) === null)
        throw new EvolverError(
          "INVALID_STRUCT",
          `field "${name}" of struct ${i} is ${String(value)}, not ${type}`,
          {
            hint: "give a number that the type holds for each field",
          },
        );
      WRITE[type](view, 4 * (i * entries.length + k), value);
    }
  return contents;
}

function unpack(entries: Entries, contents: Words): NumberRecord[] {
  const size = entries.length;
  if (contents.length % size !== 0)
    throw new EvolverError(
      "INVALID_STRUCT",
      `${contents.length} elements are no whole number of structs of ${size}`,
      {
        hint: "read the whole buffer, or a multiple of stride elements from a multiple of it on",
      },
    );
  const view = new DataView(contents.buffer, contents.byteOffset, contents.byteLength);
  return Array.from({ length: contents.length / size }, (_, i) =>
    Object.fromEntries(entries.map(([name, { type }], k) => [name, READ[type](view, 4 * (i * size + k))])),
  );
}

/** Typed arrays have the byte order of the machine. */
const LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

const WRITE: Readonly<Record<WordType, (view: DataView, at: number, value: number) => void>> = {
  f32: (view, at, value) => view.setFloat32(at, value, LITTLE),
  i32: (view, at, value) => view.setInt32(at, value, LITTLE),
  u32: (view, at, value) => view.setUint32(at, value, LITTLE),
};
const READ: Readonly<Record<WordType, (view: DataView, at: number) => number>> = {
  f32: (view, at) => view.getFloat32(at, LITTLE),
  i32: (view, at) => view.getInt32(at, LITTLE),
  u32: (view, at) => view.getUint32(at, LITTLE),
};
