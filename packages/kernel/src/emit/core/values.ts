/**
 * Which values become names in emitted code and which become part of larger expressions. It knows neither the statements
 * around them (emitter.ts) nor how a target translates an operation.
 *
 * A value used once, in the block that defines it, is kept as an expression until its use. Arithmetic may be kept for any
 * time; a read of memory or of a variable only as long as no statement in between could change its result.
 */

import type { Block, Node } from "../../ir/nodes.ts";
import type { Memory, Value, Variable } from "../../ir/types.ts";
import type { Code } from "./code.ts";
import { simple, type Expression, type Operand } from "./expression.ts";
import { hintFor } from "./names.ts";

/** What an expression reads that statements may change. */
export type Source = Memory | Variable;

/** A value that waits for its one use. */
interface Pending {
  readonly value: Value;
  readonly expression: Expression;
  readonly reads: ReadonlySet<Source>;
  readonly node: Node;
}

/** Longer expressions become names. */
const MAX_EXPRESSION = 84;

const NOTHING: ReadonlySet<Source> = new Set();

export class Values {
  readonly #code: Code;
  readonly #expressions: (Expression | undefined)[] = [];
  readonly #constants: (number | boolean | null)[] = [];
  /** By value id, in program order. */
  #pending = new Map<number, Pending>();
  #block: Block | null = null;
  #reads = new Set<Source>();

  constructor(code: Code) {
    this.#code = code;
  }

  /** What the operands that were taken last read, they and what they are made of. */
  get reads(): ReadonlySet<Source> {
    return this.#reads;
  }

  /** Values defined inside wait no longer than to the end of the block. */
  inBlock(block: Block, inside: () => void): void {
    const outer = { pending: this.#pending, block: this.#block };
    this.#pending = new Map();
    this.#block = block;
    inside();
    this.#pending = outer.pending;
    this.#block = outer.block;
  }

  /** The expressions of values where they are used, now. */
  take(values: readonly Value[]): Operand[] {
    this.#reads = new Set();
    return values.map((value) => this.#takeOne(value));
  }

  /** A literal. */
  constant(value: Value, constant: number | boolean): void {
    this.#constants[value.id] = constant;
    if (this.#code.isUsed(value)) this.known(value, this.#code.literal(value.type, constant));
  }

  /** A value that may be written as this expression wherever it is used. */
  known(value: Value, expression: Expression): void {
    this.#expressions[value.id] = expression;
  }

  /** What a node without an effect gives: it may wait for its use. */
  define(value: Value, expression: Expression, node: Node, reads: ReadonlySet<Source>): void {
    const uses = this.#code.uses.count(value);
    if (uses === 0) return;
    if (expression.simple === true && reads.size === 0) return this.known(value, expression);
    const entry = { value, expression, node, reads };
    const mayWait = uses === 1 && this.#code.uses.block(value) === this.#block;
    if (mayWait && expression.text.length <= MAX_EXPRESSION) this.#pending.set(value.id, entry);
    else this.#name(entry);
  }

  /** What a node with an effect gives: named at once, or the operation alone if nothing uses it. */
  result(value: Value | null, expression: Expression, node: Node): void {
    if (value === null || !this.#code.isUsed(value)) {
      if (expression.simple !== true) this.#code.line(`${expression.text};`);
    } else if (expression.simple === true) this.known(value, expression);
    else this.#name({ value, expression, node, reads: NOTHING });
  }

  /** Names what waits and could be changed by what follows: all reads, or those of one memory or variable. */
  settle(changed: Source | "all"): void {
    for (const [id, entry] of this.#pending) {
      const conflicts = changed === "all" ? entry.reads.size > 0 : entry.reads.has(changed);
      if (!conflicts) continue;
      this.#pending.delete(id);
      this.#name(entry);
    }
  }

  #takeOne(value: Value): Operand {
    let expression = this.#expressions[value.id];
    const waiting = this.#pending.get(value.id);
    if (waiting !== undefined) {
      this.#pending.delete(value.id);
      for (const source of waiting.reads) this.#reads.add(source);
      expression = waiting.expression;
    }
    if (expression === undefined) throw new TypeError(`value ${value.id} is used before its definition`);
    return { ...expression, type: value.type, constant: this.#constants[value.id] ?? null };
  }

  #name({ value, expression, node }: Pending): void {
    const code = this.#code;
    const { site } = code;
    code.site = node.site;
    const name = code.names.take(hintFor(node, value));
    code.declareValue(name, value.type, expression.text);
    this.known(value, simple(name));
    code.site = site;
  }
}
