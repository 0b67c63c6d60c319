/**
 * Writes the JavaScript that follows indeterminate values: beside each value that may be one lies a shadow, a number for
 * each lane that says where the value became indeterminate, or 0. Operations pass shadows on, and a shadow that reaches a
 * result, an address or a decision is reported there (runtime/shadows.ts). Only values that the analysis names have one.
 */

import { assertNever } from "@evolver/base";
import type {
  ForNode,
  KernelIR,
  LoadNode,
  Memory,
  Node,
  OpNode,
  ScalarType,
  StoreNode,
  SubgroupNode,
  UniformLoadNode,
  Value,
  VarGetNode,
  Variable,
  WhileNode,
} from "@evolver/kernel";
import { isInteger } from "@evolver/kernel";
import {
  findIndeterminate,
  onlySetsVariables,
  readsLane,
  variablesSetIn,
} from "../analysis/indeterminate.ts";
import type { Indeterminate } from "../analysis/indeterminate.ts";
import type { Emitter } from "./emitter.ts";
import type { Scope } from "./scopes.ts";

/** The position of what has no shadow. */
const NONE = -1;

/** The operand that alone decides what an operation of two gives, whatever the other is, or null. */
function decisiveOperand(op: OpNode["op"], type: ScalarType): number | null {
  if (op === "and" || (op === "mul" && isInteger(type))) return 0;
  if (op !== "or") return null;
  return type === "bool" ? 1 : type === "i32" ? -1 : 2 ** 32 - 1;
}

export class ShadowWriter {
  readonly #emitter: Emitter;
  readonly #origins: ReadonlySet<Node>;
  readonly #indeterminate: Indeterminate;
  readonly #slots = new Map<string, number>();

  constructor(emitter: Emitter, ir: KernelIR, origins: ReadonlySet<Node>) {
    this.#emitter = emitter;
    this.#origins = origins;
    this.#indeterminate = findIndeterminate(ir, origins);
  }

  /** How many shadows of one number per lane there are. */
  get count(): number {
    return this.#slots.size;
  }

  /** What happens to shadows where a node runs, loads and stores and a loop's test excepted. */
  before(node: Node, scope: Scope, index: number): void {
    switch (node.kind) {
      case "op":
        return this.#op(node, scope, index);
      case "var": {
        const to = this.#variable(node.variable);
        if (to === NONE) return;
        const from = node.init === null ? NONE : this.#value(node.init);
        return this.#call("assign", [scope.active, from, to]);
      }
      case "varSet": {
        const to = this.#variable(node.variable);
        if (to !== NONE) this.#call("assign", [scope.active, this.#value(node.value), to]);
        return;
      }
      case "subgroup":
        return this.#subgroup(node, scope);
      case "if":
        if (!onlySetsVariables(node)) this.#use(node, [node.condition], scope, "decides a branch");
        return;
      case "for":
        return this.#loop(node, scope);
      case "atomic":
        this.#use(node, [node.index], scope, `is an index into ${node.memory.name}`);
        return this.#use(node, node.operands, scope, `goes to ${node.memory.name}`);
      case "asyncCopy": {
        const indices = [node.fromIndex, node.toIndex, ...(node.active === null ? [] : [node.active])];
        this.#use(node, indices, scope, "decides what is copied");
        return this.#write(node, node.to, node.toIndex, new Array<number>(node.width).fill(NONE), scope);
      }
      case "arrive":
        return this.#use(node, [node.index], scope, `is an index into ${node.barrier.name}`);
      case "awaitPhase":
        return this.#use(node, [node.index, node.parity], scope, `decides the wait for ${node.barrier.name}`);
      case "const":
      case "param":
      case "builtin":
      case "load":
      case "store":
      case "uniformLoad":
      case "varGet":
      case "while":
      case "break":
      case "continue":
      case "roles":
      case "barrier":
      case "commitCopies":
      case "awaitCopies":
      case "comment":
      case "trace":
        return;
      default:
        return assertNever(node, "node");
    }
  }

  /** The read of a variable; `set` is the set of lanes that have set it, or null where that is not watched. */
  variable(node: VarGetNode, { active }: Scope, set: string | null): void {
    const to = this.#value(node.result);
    if (to === NONE) return;
    const from = this.#variable(node.variable);
    if (set === null || !this.#origins.has(node)) return this.#call("assign", [active, from, to]);
    const place = `{ site: ${this.#emitter.site(node)}, set: ${set} }`;
    this.#call("variable", [active, place, from, to]);
  }

  /** After a branch that only sets variables: whether it did is as indeterminate as the condition. */
  after(node: Node, { active }: Scope): void {
    if (node.kind !== "if") return;
    const from = this.#value(node.condition);
    if (from === NONE || !onlySetsVariables(node)) return;
    for (const id of variablesSetIn(node)) this.#call("spread", [active, from, this.#slot(`variable ${id}`)]);
  }

  /** The test of a loop, where its lanes are active. */
  test(node: WhileNode, scope: Scope): void {
    this.#use(node, [node.test], scope, "decides whether a loop goes on");
  }

  load(node: LoadNode | UniformLoadNode, scope: Scope): void {
    const { memory, index } = node;
    this.#use(node, [index], scope, `is an index into ${memory.name}`);
    const results = node.kind === "load" ? node.results : [node.result];
    if (this.#value(results[0] as Value) === NONE) return;
    const place = this.#emitter.place(node, {
      memory: this.#emitter.memory(memory).number,
      isOrigin: this.#origins.has(node),
    });
    const to = `[${results.map((result) => this.#value(result)).join(", ")}]`;
    this.#call("load", [scope.active, place, to, this.#emitter.operand(index, scope)]);
  }

  store(node: StoreNode, scope: Scope): void {
    const { memory, index, values } = node;
    this.#use(node, [index], scope, `is an index into ${memory.name}`);
    if (memory.space === "global") return this.#use(node, values, scope, `is stored in ${memory.name}`);
    this.#write(
      node,
      memory,
      index,
      values.map((value) => this.#value(value)),
      scope,
    );
  }

  /** Shared memory gets shadows, or loses those that it had. */
  #write(node: Node, memory: Memory, index: Value, from: readonly number[], scope: Scope): void {
    if (!this.#indeterminate.memories.has(memory)) return;
    const place = this.#emitter.place(node, { memory: this.#emitter.memory(memory).number });
    this.#call("store", [scope.active, place, `[${from.join(", ")}]`, this.#emitter.operand(index, scope)]);
  }

  #op(node: OpNode, scope: Scope, index: number): void {
    const result = this.#value(node.result);
    if (result === NONE) return;
    const shadows = node.operands.map((operand) => this.#value(operand));
    const [a, b] = node.operands as [Value, Value];
    const decisive = decisiveOperand(node.op, a.type);
    if (node.op !== "select" && decisive === null)
      return this.#call("join", [`[${shadows.filter((from) => from !== NONE).join(", ")}]`, result]);
    // What they depend on depends on values.
    this.#emitter.flush(scope, index - 1);
    const list = `[${shadows.join(", ")}]`;
    if (node.op === "select") return this.#call("select", [list, this.#emitter.operand(a, scope), result]);
    const values = `{ a: ${this.#emitter.operand(a, scope)}, b: ${this.#emitter.operand(b, scope)}, decisive: ${decisive} }`;
    this.#call("logical", [list, values, result]);
  }

  #subgroup(node: SubgroupNode, scope: Scope): void {
    const [result, ...more] = node.results.map((value) => this.#value(value));
    if (result === undefined || result === NONE) return;
    const [operand, by] = node.operands as [Value, Value?];
    const from = this.#value(operand);
    if (readsLane(node.op)) {
      const place = this.#emitter.place(node, {
        op: node.op,
        operand: from,
        by: this.#value(by as Value),
        result,
        isOrigin: this.#origins.has(node),
      });
      return this.#call("lane", [scope.active, place, this.#emitter.operand(by as Value, scope)]);
    }
    const isScan = node.op === "inclusiveSum" || node.op === "exclusiveSum";
    const shift = node.op === "exclusiveSum" ? 1 : 0;
    const isFirst = node.op === "broadcastFirst";
    for (const to of [result, ...more])
      if (isScan) this.#call("scan", [scope.active, from, shift, to]);
      else this.#call("combine", [scope.active, from, isFirst, to]);
  }

  #loop(node: ForNode, scope: Scope): void {
    this.#use(node, [node.from, node.to, node.step], scope, "decides how often a loop runs");
  }

  /** Values that may not be indeterminate here. */
  #use(node: Node, values: readonly Value[], { active }: Scope, what: string): void {
    const shadows = values.map((value) => this.#value(value)).filter((from) => from !== NONE);
    if (shadows.length === 0) return;
    const place = this.#emitter.place(node, { what });
    for (const from of shadows) this.#call("use", [active, place, from]);
  }

  #call(name: string, args: readonly (string | number | boolean)[]): void {
    this.#emitter.emit(`shadows.${name}(subgroup, ${args.join(", ")});`);
  }

  #value({ id }: Value): number {
    return this.#indeterminate.values.has(id) ? this.#slot(`value ${id}`) : NONE;
  }

  #variable({ id }: Variable): number {
    return this.#indeterminate.variables.has(id) ? this.#slot(`variable ${id}`) : NONE;
  }

  /** The position of lane 0's shadow. */
  #slot(key: string): number {
    let slot = this.#slots.get(key);
    if (slot === undefined) this.#slots.set(key, (slot = this.#slots.size));
    return slot * this.#emitter.ir.subgroupSize;
  }
}
