/** A value in a JSON document that knows where it stands, so that what is wrong with it can be said. */

import { EvolverError } from "@evolver/base";

export class Field {
  readonly #file: string;
  readonly #path: string;
  readonly #value: unknown;

  private constructor(file: string, path: string, value: unknown) {
    this.#file = file;
    this.#path = path;
    this.#value = value;
  }

  /** @throws EvolverError EVIDENCE_INVALID for text that is no JSON */
  static ofFile(file: string, text: string): Field {
    try {
      return new Field(file, "", JSON.parse(text));
    } catch (error) {
      throw new EvolverError("EVIDENCE_INVALID", `${file} is no JSON document: ${String(error)}`, {
        hint: "measure it again, or remove the file: the documents then say that it was not measured",
        cause: error,
      });
    }
  }

  get isNull(): boolean {
    return this.#value === null;
  }

  has(name: string): boolean {
    return this.#isObject() && Object.hasOwn(this.#value as object, name);
  }

  get(name: string): Field {
    if (!this.#isObject()) throw this.invalid("an object");
    const path = this.#path === "" ? name : `${this.#path}.${name}`;
    return new Field(this.#file, path, (this.#value as Record<string, unknown>)[name]);
  }

  items(): Field[] {
    if (!Array.isArray(this.#value)) throw this.invalid("a list");
    return this.#value.map((value: unknown, k) => new Field(this.#file, `${this.#path}[${k}]`, value));
  }

  text(): string {
    if (typeof this.#value !== "string") throw this.invalid("text");
    return this.#value;
  }

  flag(): boolean {
    if (typeof this.#value !== "boolean") throw this.invalid("true or false");
    return this.#value;
  }

  number(): number {
    if (typeof this.#value !== "number" || !Number.isFinite(this.#value)) throw this.invalid("a number");
    return this.#value;
  }

  positive(): number {
    const value = this.number();
    if (value <= 0) throw this.invalid("a number above 0");
    return value;
  }

  /** @param wanted what should stand here */
  invalid(wanted: string): EvolverError {
    const found = this.#value === undefined ? "missing" : (JSON.stringify(this.#value)?.slice(0, 60) ?? "");
    const name = this.#path === "" ? "the document" : this.#path;
    return new EvolverError("EVIDENCE_INVALID", `${this.#file}: ${name} is ${found}, and must be ${wanted}`, {
      hint: "measure it again, or remove the file: the documents then say that it was not measured",
    });
  }

  #isObject(): boolean {
    return typeof this.#value === "object" && this.#value !== null && !Array.isArray(this.#value);
  }
}
