/** A JSON document read field by field: what is missing or of the wrong type is refused with the field's name. */

import { EvolverError } from "@evolver/base";
import { SERIAL_FORMAT, SERIAL_VERSION } from "../ir/serialise.ts";

export function malformed(path: string, what: string, cause?: unknown): EvolverError {
  return new EvolverError("INVALID_IR", `Invalid serialised IR: ${path} is ${what}.`, {
    hint: `give the unchanged output of serialise(), format ${SERIAL_FORMAT} version ${SERIAL_VERSION}`,
    ...(cause === undefined ? {} : { cause }),
  });
}

export function show(value: unknown): string {
  if (value === undefined) return "missing";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** An object of the document, read field by field; `path` names it in errors. */
export class Fields {
  readonly path: string;
  readonly #object: Readonly<Record<string, unknown>>;

  constructor(value: unknown, path: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw malformed(path, `${show(value)}, not an object`);
    this.path = path;
    this.#object = value as Record<string, unknown>;
  }

  get(name: string): unknown {
    return Object.hasOwn(this.#object, name) ? this.#object[name] : undefined;
  }

  fail(name: string, expected: string): never {
    throw malformed(`${this.path}.${name}`, `${show(this.get(name))}, not ${expected}`);
  }

  text(name: string): string {
    const value = this.get(name);
    return typeof value === "string" ? value : this.fail(name, "a string");
  }

  flag(name: string): boolean {
    const value = this.get(name);
    return typeof value === "boolean" ? value : this.fail(name, "true or false");
  }

  count(name: string): number {
    const value = this.get(name);
    return isCount(value) ? value : this.fail(name, "a whole number from 0");
  }

  countOrNull(name: string): number | null {
    return this.get(name) === null ? null : this.count(name);
  }

  oneOf<T extends string>(name: string, choices: readonly T[]): T {
    const value = this.get(name);
    return choices.find((choice) => choice === value) ?? this.fail(name, `one of ${choices.join(", ")}`);
  }

  list(name: string): readonly unknown[] {
    const value = this.get(name);
    return Array.isArray(value) ? value : this.fail(name, "a list");
  }

  objects(name: string): Fields[] {
    return this.list(name).map((item, i) => new Fields(item, `${this.path}.${name}[${i}]`));
  }
}

export const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
