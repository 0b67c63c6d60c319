/** A JSON document being read. It knows the reader's position, so that an error names the place. */

import { EvolverError } from "@evolver/base";

export type Json = Record<string, unknown>;

export class JsonDocument {
  readonly #name: string;
  readonly #hint: string;
  /** Keys from the document down to where the reader is. */
  readonly #path: (string | number)[] = [];

  /** @param hint what to do about a document that is refused */
  constructor(name: string, hint: string) {
    this.#name = name;
    this.#hint = hint;
  }

  parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw this.#error("the text", "no JSON", cause);
    }
  }

  object(json: unknown): Json {
    if (typeof json === "object" && json !== null && !Array.isArray(json)) return json as Json;
    return this.fail(json, "an object");
  }

  /** The items of a list, each read in its place. */
  items<T>(json: unknown, read: (item: unknown) => T): readonly T[] {
    if (!Array.isArray(json)) return this.fail(json, "a list");
    const items: T[] = [];
    for (let i = 0; i < json.length; i++) {
      this.#path.push(i);
      items.push(read(json[i]));
      this.#path.pop();
    }
    return Object.freeze(items);
  }

  list<T>(json: Json, name: string, read: (item: unknown) => T): readonly T[] {
    const items = this.items(this.enter(json, name), read);
    this.leave();
    return items;
  }

  /** What stands under a key, where the reader is until it leaves. */
  enter(json: Json, name: string): unknown {
    this.#path.push(name);
    return Object.hasOwn(json, name) ? json[name] : undefined;
  }

  leave(): void {
    this.#path.pop();
  }

  fail(json: unknown, expected: string): never {
    this.refuse(`${show(json)}, not ${expected}`);
  }

  failAt(json: Json, name: string, expected: string): never {
    this.fail(this.enter(json, name), expected);
  }

  refuse(what: string): never {
    const place = this.#path.reduce<string>(
      (outer, key) => (typeof key === "number" ? `${outer}[${key}]` : `${outer}.${key}`),
      this.#name,
    );
    throw this.#error(place, what);
  }

  #error(place: string, what: string, cause?: unknown): EvolverError {
    return new EvolverError("INVALID_IR", `Invalid serialised IR: ${place} is ${what}.`, {
      hint: this.#hint,
      ...(cause === undefined ? {} : { cause }),
    });
  }
}

function show(value: unknown): string {
  if (value === undefined) return "missing";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Whether a value is a whole number from 0. */
export const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
