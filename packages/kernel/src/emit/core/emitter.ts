/**
 * What all emitters share: the walk over structured control flow, which values become names and which become part of
 * larger expressions, and C-like statements. What differs between targets is in target.ts and one file a target.
 *
 * A value used once, in the block that defines it, waits as an expression until its use. Arithmetic may wait for any
 * time; a read of memory or of a variable waits only as far as nothing that could change it comes between.
 */

import type { BuiltinName } from "../../ir/builtins.ts";
import type { Block, ForNode, LoadNode, Node, RolesNode, WhileNode } from "../../ir/nodes.ts";
import type { Memory, Value, Variable } from "../../ir/types.ts";
import { infix, parenthesised, prefix, simple, type Expression, type Operand } from "./expression.ts";
import { Lines } from "./lines.ts";
import { builtinName, hintFor, loopName } from "./names.ts";
import { Target } from "./target.ts";

type Source = Memory | Variable;

/** A value that waits for its one use. */
interface Pending {
  readonly value: Value;
  readonly expression: Expression;
  readonly reads: ReadonlySet<Source>;
  readonly node: Node;
}

/** Longer expressions become names. */
const MAX_EXPRESSION = 84;

export abstract class Emitter extends Target {
  readonly #expressions: (Expression | undefined)[] = [];
  readonly #constants: (number | boolean | null)[] = [];
  readonly #variables: string[] = [];
  /** By value id, in program order. */
  #pending = new Map<number, Pending>();
  #reads = new Set<Source>();
  #block: Block | null = null;
  #loopDepth = 0;

  /** Emits the kernel's statements into `out`. */
  protected body(): void {
    this.names.open();
    this.#emitBlock(this.ir.body);
    this.names.close();
  }

  // Values.

  /** The expression of a value where it is used, now. */
  #take(value: Value): Operand {
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

  #takeAll(values: readonly Value[]): Operand[] {
    this.#reads = new Set();
    return values.map((value) => this.#take(value));
  }

  #define(value: Value, expression: Expression, node: Node, reads: ReadonlySet<Source>): void {
    const uses = this.uses.count(value);
    if (uses === 0) return;
    const entry = { value, expression, node, reads };
    if (expression.simple === true && reads.size === 0) this.#expressions[value.id] = expression;
    else if (uses === 1 && this.uses.block(value) === this.#block && expression.text.length <= MAX_EXPRESSION)
      this.#pending.set(value.id, entry);
    else this.#materialise(entry);
  }

  #materialise({ value, expression, node }: Pending): void {
    const site = this.site;
    this.site = node.site;
    const name = this.names.take(hintFor(node));
    this.line(this.declareValue(name, value.type, expression.text));
    this.#expressions[value.id] = simple(name);
    this.site = site;
  }

  /** Names what waits and could be changed: all reads, or those of one memory or variable. */
  #settle(changed: Source | "all"): void {
    for (const [id, entry] of this.#pending) {
      const conflicts = changed === "all" ? entry.reads.size > 0 : entry.reads.has(changed);
      if (!conflicts) continue;
      this.#pending.delete(id);
      this.#materialise(entry);
    }
  }

  // Statements.

  /** The caller opens and closes the scope of the block's names. */
  #emitBlock(block: Block, atEnd?: () => void): void {
    const outer = { pending: this.#pending, block: this.#block };
    this.#pending = new Map();
    this.#block = block;
    for (const node of block.nodes) {
      this.site = node.site;
      this.#emitNode(node);
    }
    atEnd?.();
    this.#pending = outer.pending;
    this.#block = outer.block;
  }

  #nested(block: Block, atStart?: () => void, atEnd?: () => void): void {
    this.out.depth++;
    this.names.open();
    atStart?.();
    this.#emitBlock(block, atEnd);
    this.names.close();
    this.out.depth--;
  }

  #emitNode(node: Node): void {
    switch (node.kind) {
      case "const":
        this.#constants[node.result.id] = node.value;
        if (this.isUsed(node.result))
          this.#expressions[node.result.id] = this.literal(node.result.type, node.value);
        return;
      case "param":
        if (this.isUsed(node.result))
          this.#expressions[node.result.id] = this.parameter(this.scalarName(node.name));
        return;
      case "builtin":
        this.#expressions[node.result.id] = this.#builtin(node.builtin, node.result);
        return;
      case "op": {
        if (!this.isUsed(node.result)) return;
        const taken = this.#takeAll(node.operands);
        const reads = this.#reads;
        const operands = this.prepare(node, taken);
        const expression = this.rows[node.op](operands, {
          result: node.result.type,
          helper: (name) => this.helper(name),
          note: (request, became, fallback) => this.note(request, became, fallback),
        });
        return this.#define(node.result, expression, node, reads);
      }
      case "load":
        return this.#load(node);
      case "store": {
        const [index, ...values] = this.#takeAll([node.index, ...node.values]) as [Operand, ...Operand[]];
        this.#settle(node.memory);
        if (values.length > 1) return this.wideStore(node, index, values);
        return this.storeElement(node.memory, index, values[0] as Operand);
      }
      case "atomic": {
        const [index, ...operands] = this.#takeAll([node.index, ...node.operands]) as [Operand, ...Operand[]];
        this.#settle("all");
        const expression = this.atomic(node, index, operands);
        return this.#result(node.result, expression, node);
      }
      case "subgroup": {
        if (!node.results.some((result) => this.isUsed(result))) return;
        const operands = this.#takeAll(node.operands);
        this.#settle("all");
        const results = this.subgroup(node, operands);
        return node.results.forEach((result, k) => {
          if (this.isUsed(result)) this.#result(result, results[k] as Expression, node);
        });
      }
      case "uniformLoad": {
        const [index] = this.#takeAll([node.index]) as [Operand];
        this.#settle("all");
        return this.#result(node.result, this.uniformLoad(node, index), node);
      }
      case "var": {
        const init = node.init === null ? null : (this.#takeAll([node.init])[0] as Operand).text;
        const name = this.names.take(node.variable.name);
        this.#variables[node.variable.id] = name;
        return this.line(this.declareVariable(name, node.variable.type, init));
      }
      case "varGet": {
        const name = this.#variables[node.variable.id] as string;
        return this.#define(node.result, simple(name), node, new Set([node.variable]));
      }
      case "varSet": {
        const { text } = this.#takeAll([node.value])[0] as Operand;
        this.#settle(node.variable);
        return this.line(`${this.#variables[node.variable.id]} = ${text};`);
      }
      case "if":
        return this.#if(node);
      case "for":
        return this.#for(node);
      case "while":
        return this.#while(node);
      case "roles":
        return this.#roles(node);
      case "break":
      case "continue":
        return this.line(`${node.kind};`);
      case "barrier":
        this.#settle("all");
        return node.scope === "subgroup" ? this.subgroupBarrier(node) : this.barrier();
      case "asyncCopy": {
        const indices = [node.toIndex, node.fromIndex];
        const [to, from, active] = this.#takeAll(
          node.active === null ? indices : [...indices, node.active],
        ) as [Operand, Operand, Operand | undefined];
        this.#settle(node.to);
        return this.asyncCopy(node, to, from, active ?? null);
      }
      case "commitCopies":
        return this.commitCopies();
      case "awaitCopies":
        this.#settle("all");
        return this.awaitCopies(node);
      case "arrive": {
        const [index] = this.#takeAll([node.index]) as [Operand];
        this.#settle("all");
        return this.arrive(node, index);
      }
      case "awaitPhase": {
        const [index, parity] = this.#takeAll([node.index, node.parity]) as [Operand, Operand];
        this.#settle("all");
        return this.awaitPhase(node, index, parity);
      }
      case "comment":
        for (const text of node.text.split("\n")) this.line(`// ${text}`);
    }
  }

  /** A result of an operation with an effect: named at once, or the operation alone if nothing uses it. */
  #result(value: Value | null, expression: Expression, node: Node): void {
    if (value !== null && this.isUsed(value)) {
      if (expression.simple === true) this.#expressions[value.id] = expression;
      else this.#materialise({ value, expression, node, reads: new Set() });
    } else if (expression.simple !== true) this.line(`${expression.text};`);
  }

  #builtin(builtin: BuiltinName, result: Value): Expression {
    if (!this.isUsed(result)) return simple(builtinName(builtin));
    this.usedBuiltins.add(builtin);
    return this.builtin(builtin);
  }

  #load(node: LoadNode): void {
    if (!node.results.some((result) => this.isUsed(result))) return;
    const [index] = this.#takeAll([node.index]) as [Operand];
    const reads = new Set([...this.#reads, node.memory]);
    const [result] = node.results as [Value];
    if (node.results.length === 1)
      return this.#define(result, this.loadElement(node.memory, index), node, reads);
    const parts = this.wideLoad(node, index);
    node.results.forEach((value, k) =>
      this.#define(value, parts[k] as Expression, node, new Set([node.memory])),
    );
  }

  #if(node: Node & { kind: "if" }): void {
    const condition = this.#takeAll([node.condition])[0] as Operand;
    this.#settle("all");
    const swap = node.then.nodes.length === 0 && node.else.nodes.length > 0;
    this.line(`if ${parenthesised(swap ? prefix("!", condition) : condition)} {`);
    this.#nested(swap ? node.else : node.then);
    if (!swap && node.else.nodes.length > 0) {
      this.out.add("} else {");
      this.#nested(node.else);
    }
    this.out.add("}");
    this.afterControl(node);
  }

  #for(node: ForNode): void {
    const from = this.#takeAll([node.from])[0] as Operand;
    this.#settle("all");
    // C evaluates these in each turn, so they must not read what the body may change.
    const stable = (value: Value, hint: string): Operand => {
      const operand = this.#takeAll([value])[0] as Operand;
      return this.#reads.size === 0 ? operand : { ...operand, ...this.bind(operand, value.type, hint) };
    };
    const to = stable(node.to, "end");
    const step = stable(node.step, "step");
    this.beforeLoop(node);
    this.names.open();
    const name = this.names.take(loopName(this.#loopDepth));
    this.#expressions[node.induction.id] = simple(name);
    this.line(`${this.forHeader(node, name, from, to, step)} {`);
    this.#loopBody(node, node.body);
    this.names.close();
    this.out.add("}");
    this.afterControl(node);
  }

  #loopBody(node: ForNode | WhileNode, body: Block): void {
    this.#loopDepth++;
    this.#nested(
      body,
      () => this.beginLoopBody(node),
      () => this.endLoopBody(node),
    );
    this.#loopDepth--;
  }

  #while(node: WhileNode): void {
    this.#settle("all");
    this.beforeLoop(node);
    const around = this.out;
    const inside = new Lines(around.depth + 1);
    this.out = inside;
    let test: Operand | null = null;
    this.names.open();
    this.beginCondition(node);
    this.#emitBlock(node.condition, () => {
      this.site = node.site;
      test = this.#takeAll([node.test])[0] as Operand;
      if (!inside.isEmpty) this.line(`if ${parenthesised(prefix("!", test))} {\n  break;\n}`);
    });
    this.out = around;
    this.site = node.site;
    if (inside.isEmpty) this.line(`while ${parenthesised(test as unknown as Operand)} {`);
    else {
      this.line(this.forever);
      around.append(inside);
    }
    this.#loopBody(node, node.body);
    this.names.close();
    this.out.add("}");
    this.afterControl(node);
  }

  #roles(node: RolesNode): void {
    this.#settle("all");
    this.usedBuiltins.add("subgroupId");
    const id = this.builtin("subgroupId");
    const equals = this.equals;
    const number = (value: number): Expression => this.literal("u32", value);
    node.roles.forEach(({ name, first, count, body }, k) => {
      const below = infix("<", id, number(first + count));
      const condition =
        count === 1
          ? infix(equals, id, number(first))
          : first === 0
            ? below
            : infix("&&", infix(">=", id, number(first)), below);
      this.line(`${k === 0 ? "" : "} else "}if ${parenthesised(condition)} {`);
      this.out.depth++;
      this.line(`// role ${name}`);
      this.out.depth--;
      this.#nested(body);
    });
    this.out.add("}");
    this.afterControl(node);
  }
}
