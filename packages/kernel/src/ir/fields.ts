/**
 * What a field of a node can hold, as data. schema.ts describes each node by such fields; walking, checking and the JSON
 * form are derived from them. Nothing here reads or writes a field.
 */

import type { Block } from "./nodes.ts";
import type { Access, Memory, PhaseBarrier, ScalarType, Value, Variable } from "./types.ts";

/** A field that uses a value. */
export interface UseShape {
  readonly role: "use";
  /** What messages call the value. */
  readonly label: string;
  /** The types that it may have, null where they depend on other fields. */
  readonly types: readonly ScalarType[] | null;
  /** The field whose block the value is read at the end of; null: where the node stands. */
  readonly endOf: string | null;
}

export interface DefinitionShape {
  readonly role: "definition";
  /** The field whose block the value is defined at the start of; null: where the node stands. */
  readonly startOf: string | null;
}

export interface MemoryShape {
  readonly role: "memory";
  /** What the node does with the memory; by operation where that decides. */
  readonly access: Access | Readonly<Record<string, Access>>;
}

export interface VariableShape {
  readonly role: "variable";
  readonly does: "declare" | "read" | "write";
}

interface BlockShape {
  readonly role: "block";
  /** In JSON, the place in the list `blocks`; null: under the field's own name. */
  readonly branch: number | null;
}

interface ChoiceShape {
  readonly role: "choice";
  readonly choices: readonly string[];
}

interface ListShape {
  readonly role: "list";
  readonly of: FieldShape;
}

/** Null stands for what is not there. */
interface OptionalShape {
  readonly role: "optional";
  readonly of: FieldShape;
}

interface RecordShape {
  readonly role: "record";
  readonly fields: Readonly<Record<string, FieldShape>>;
}

export type FieldShape =
  | UseShape
  | DefinitionShape
  | MemoryShape
  | VariableShape
  | BlockShape
  | ChoiceShape
  | ListShape
  | OptionalShape
  | RecordShape
  | { readonly role: "phaseBarrier" }
  /** A number, NaN and infinities too, or a bool. */
  | { readonly role: "literal" }
  | { readonly role: "text" }
  /** A whole number from 0. */
  | { readonly role: "count" }
  /** true or false. */
  | { readonly role: "flag" }
  | { readonly role: "numberOrFlag" };

declare const holds: unique symbol;

/** The shape of a field whose value in the node is a T: the compiler refuses a row that says otherwise. */
export type Field<T> = FieldShape & { readonly [holds]?: (value: T) => T };

export type Fields<T> = { readonly [K in keyof T]-?: Field<T[K]> };

export const use = (label: string, types: readonly ScalarType[] | null = null): Field<Value> => ({
  role: "use",
  label,
  types,
  endOf: null,
});

/** A value of a nested block that the node reads when the block has run. */
export const useAtEndOf = (
  block: string,
  label: string,
  types: readonly ScalarType[] | null = null,
): Field<Value> => ({ role: "use", label, types, endOf: block });

export const definition = (): Field<Value> => ({ role: "definition", startOf: null });

/** A value that the node defines again each time a nested block starts. */
export const definitionAtStartOf = (block: string): Field<Value> => ({ role: "definition", startOf: block });

export const memory = <M extends Memory>(access: MemoryShape["access"]): Field<M> => ({
  role: "memory",
  access,
});

export const phaseBarrier = (): Field<PhaseBarrier> => ({ role: "phaseBarrier" });

export const variable = (does: VariableShape["does"]): Field<Variable> => ({ role: "variable", does });

export const block = (): Field<Block> => ({ role: "block", branch: null });

export const branch = (index: number): Field<Block> => ({ role: "block", branch: index });

export const literal = (): Field<number | boolean> => ({ role: "literal" });

/** A name that is taken as it stands: the verifier knows which ones there are. */
export const text = <T extends string>(): Field<T> => ({ role: "text" });

export const count = <T extends number>(): Field<T> => ({ role: "count" });

export const flag = (): Field<boolean> => ({ role: "flag" });

export const numberOrFlag = (): Field<number | boolean> => ({ role: "numberOrFlag" });

export const choice = <const T extends readonly string[]>(...choices: T): Field<T[number]> => ({
  role: "choice",
  choices,
});

export const list = <T>(of: Field<T>): Field<readonly T[]> => ({ role: "list", of });

export const optional = <T>(of: Field<T>): Field<T | null> => ({ role: "optional", of });

export const record = <T>(fields: Fields<T>): Field<T> => ({ role: "record", fields });
