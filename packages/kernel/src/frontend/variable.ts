/** Mutable state of one invocation: variables, and register arrays with build-time indices. */

import { EvolverError } from "@evolver/base";
import { captureSite, type Site } from "../ir/site.ts";
import { scalarTypes, type Variable, type VariableType } from "../ir/types.ts";
import { note, type Frame, type Recorder } from "./recorder.ts";
import { lift, Scalar, wrap, type Operand, type ScalarOf } from "./scalar.ts";

interface VarOptions {
  readonly name?: string;
  readonly k?: number;
  readonly count?: number;
}

/** A variable: `get` reads it at that point of the program, `set` writes it. */
export class Var<T extends VariableType> {
  readonly type: T;
  readonly #recorder: Recorder;
  readonly #variable: Variable;
  readonly #frame: Frame;
  readonly #site: Site;

  /** @internal `k` and `count`: which of how many variables of one call it is. */
  constructor(
    recorder: Recorder,
    type: T,
    init: Operand<T> | null,
    { name = "", k = 0, count = 1 }: VarOptions = {},
  ) {
    this.type = type;
    this.#recorder = recorder;
    this.#site = recorder.place();
    this.#frame = recorder.frame;
    this.#variable = recorder.variable(type, name, { site: this.#site, k, count });
    const value = init === null ? null : recorder.use(lift(recorder, init, type), this.#site);
    if (value !== null) this.#checkType(value.type, this.#site);
    recorder.emit({ kind: "var", variable: this.#variable, init: value }, this.#site);
  }

  get(): ScalarOf<T> {
    const site = this.#recorder.place();
    this.#checkScope(site);
    const result = this.#recorder.define(this.type, site);
    this.#recorder.emit({ kind: "varGet", variable: this.#variable, result: result.value }, site);
    return wrap(result);
  }

  set(value: Operand<T>): void {
    const site = this.#recorder.place();
    this.#checkScope(site);
    const lifted = this.#recorder.use(lift(this.#recorder, value, this.type), site);
    this.#checkType(lifted.type, site);
    this.#recorder.emit({ kind: "varSet", variable: this.#variable, value: lifted }, site);
  }

  /** set(get() + value); not for bool. */
  add(value: T extends "bool" ? never : Operand<T>): void {
    const recorder = this.#recorder;
    recorder.within(recorder.place(), () => {
      const sum = recorder.op("add", [this.get(), lift(recorder, value, this.type)]);
      this.set(wrap<ScalarOf<T>>(sum) as Operand<T>);
    });
  }

  #checkScope(site: Site): void {
    if (!this.#frame.closed) return;
    throw new EvolverError(
      "VALUE_OUTSIDE_BLOCK",
      `variable "${this.#variable.name}" is used outside ${this.#frame.what} that declared it`,
      {
        where: [site.location, note(this.#site, "the variable was declared here")],
        hint: "declare it before the block",
      },
    );
  }

  #checkType(type: string, site: Site): void {
    if (type === this.type) return;
    throw new EvolverError(
      "TYPE_MISMATCH",
      `variable "${this.#variable.name}" of ${this.type} cannot hold a ${type}`,
      {
        where: [site.location, note(this.#site, "the variable was declared here")],
        hint: `conversions are explicit: to${scalarTypes[this.type].suffix}()`,
      },
    );
  }
}

/** An array in registers: its indices are JavaScript numbers, so that every element has a register of its own. */
export class RegisterArray<T extends VariableType> {
  readonly length: number;
  readonly #variables: readonly Var<T>[];
  readonly #site: Site;

  constructor(recorder: Recorder, type: T, length: number, init: Operand<T> | null) {
    this.#site = captureSite();
    if (!Number.isInteger(length) || length < 0) {
      throw new EvolverError(
        "INVALID_REGISTERS",
        `a register array has a whole number of elements, not ${String(length)}`,
        {
          where: [this.#site.location],
        },
      );
    }
    this.length = length;
    this.#variables = recorder.within(this.#site, () =>
      Array.from({ length }, (_, k) => new Var(recorder, type, init, { k, count: length })),
    );
  }

  /** Element k as a variable. */
  at(k: number): Var<T> {
    if (typeof k === "number") {
      const variable = this.#variables[k];
      if (variable !== undefined) return variable;
    }
    const where = [captureSite(true).location, note(this.#site, "the register array was made here")];
    const index: unknown = k;
    if (index instanceof Scalar) {
      throw new EvolverError(
        "DYNAMIC_REGISTER_INDEX",
        `a register array is indexed by a run-time ${index.type}`,
        {
          where: [...where, note(index.site, "the index was made here")],
          hint: "registers have no addresses: unroll the loop with a JavaScript for or gpu.unroll, or use shared memory",
        },
      );
    }
    throw new EvolverError(
      "INVALID_REGISTERS",
      `element ${String(k)} of a register array of ${this.length}`,
      { where },
    );
  }

  get(k: number): ScalarOf<T> {
    return this.at(k).get();
  }
  set(k: number, value: Operand<T>): void {
    this.at(k).set(value);
  }
  add(k: number, value: T extends "bool" ? never : Operand<T>): void {
    this.at(k).add(value);
  }
}
