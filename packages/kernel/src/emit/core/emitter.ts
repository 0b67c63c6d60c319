/**
 * The walk over a kernel, the same for all targets: structured control flow and C-like statements. The target's parts
 * (target.ts) translate each node; values.ts decides which values become names; code.ts has the text itself, with its
 * names, lines and lowering report.
 */

import { assertNever } from "@evolver/base";
import { loopGuards } from "../../analysis/loops.ts";
import type { BuiltinName } from "../../ir/builtins.ts";
import type {
  Block,
  BuiltinNode,
  ForNode,
  IfNode,
  KernelIR,
  LoadNode,
  Node,
  RolesNode,
  WhileNode,
} from "../../ir/nodes.ts";
import type { OpName } from "../../ir/ops.ts";
import { tracesOf, withoutTraces } from "../../ir/traces.ts";
import type { ScalarType, Value } from "../../ir/types.ts";
import { Code } from "./code.ts";
import { infix, parenthesised, prefix, simple, type Expression, type Operand } from "./expression.ts";
import { finish } from "./finish.ts";
import { Lines } from "./lines.ts";
import { givenName, loopName } from "./names.ts";
import { noteNumbers } from "./numbers.ts";
import type { EmitOptions, Emitted } from "./result.ts";
import type { Target, TargetDefinition } from "./target.ts";
import { emitTargets, type EmitTarget } from "../targets.ts";
import { hasAtomic } from "./uses.ts";
import { Values } from "./values.ts";

/** Emits a verified kernel for a target. */
export function emitKernel(definition: TargetDefinition, given: KernelIR, options: EmitOptions): Emitted {
  const ir = withoutTraces(given);
  const code = new Code(ir, options, definition.language(ir, options));
  for (const { label, site } of tracesOf(given))
    code.log.add({
      request: `trace ${JSON.stringify(label)}`,
      became: "nothing: only the simulator shows it",
      where: site.location,
      fallback: false,
      topic: "form",
    });
  const target = definition.target(code);
  code.out.depth = target.entry.depth;
  new Emitter(definition.name, code, target).body();
  return finish(definition.name, code, target.entry);
}

class Emitter {
  readonly #name: EmitTarget;
  readonly #code: Code;
  readonly #target: Target;
  readonly #values: Values;
  /** By variable id. */
  readonly #variables: string[] = [];
  #loopDepth = 0;

  constructor(name: EmitTarget, code: Code, target: Target) {
    this.#name = name;
    this.#code = code;
    this.#target = target;
    this.#values = new Values(code);
  }

  /** Writes the kernel's statements. */
  body(): void {
    this.#code.names.open();
    this.#emitBlock(this.#code.ir.body);
    this.#code.names.close();
  }

  /** The caller opens and closes the scope of the block's names. */
  #emitBlock(block: Block, atEnd?: () => void): void {
    this.#values.inBlock(block, () => {
      for (const node of block.nodes) {
        this.#code.site = node.site;
        this.#emitNode(node);
      }
      atEnd?.();
    });
  }

  #nested(block: Block, atStart?: () => void): void {
    this.#code.nested(() => {
      atStart?.();
      this.#emitBlock(block);
    });
  }

  #emitNode(node: Node): void {
    const code = this.#code;
    const target = this.#target;
    const values = this.#values;
    switch (node.kind) {
      case "const":
        return values.constant(node.result, node.value);
      case "param":
        if (code.isUsed(node.result)) values.known(node.result, this.#parameter(node.name));
        return;
      case "builtin":
        if (code.isUsed(node.result)) this.#namedBuiltin(node);
        return;
      case "op": {
        if (!code.isUsed(node.result)) return;
        const operands = values.take(node.operands);
        const { reads } = values;
        const expression = this.#operation(node.op, operands, node.result.type);
        return values.define(node.result, expression, node, reads);
      }
      case "load":
        return this.#load(node);
      case "store": {
        const [index, ...stored] = values.take([node.index, ...node.values]) as [Operand, ...Operand[]];
        values.settle(node.memory);
        if (stored.length > 1) return target.memory.storeMany(node.memory, index, stored);
        return target.memory.store(node.memory, index, stored[0] as Operand);
      }
      case "atomic": {
        const [index, ...operands] = values.take([node.index, ...node.operands]) as [Operand, ...Operand[]];
        values.settle("all");
        return values.result(node.result, target.atomic(node, index, operands), node);
      }
      case "subgroup": {
        if (!node.results.some((result) => code.isUsed(result))) return;
        const operands = values.take(node.operands);
        values.settle("all");
        const results = target.subgroup(node, operands);
        return node.results.forEach((result, k) => {
          if (code.isUsed(result)) values.result(result, results[k] as Expression, node);
        });
      }
      case "uniformLoad": {
        const [index] = values.take([node.index]) as [Operand];
        values.settle("all");
        return values.result(node.result, target.memory.uniformLoad(node.memory, index), node);
      }
      case "var": {
        const [init] = values.take(node.init === null ? [] : [node.init]);
        const name = code.names.take(node.variable.name);
        this.#variables[node.variable.id] = name;
        return code.declareVariable(name, node.variable.type, init?.text ?? null);
      }
      case "varGet": {
        const name = this.#variables[node.variable.id] as string;
        return values.define(node.result, simple(name), node, new Set([node.variable]));
      }
      case "varSet": {
        const [value] = values.take([node.value]) as [Operand];
        values.settle(node.variable);
        return code.line(`${this.#variables[node.variable.id]} = ${value.text};`);
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
        return code.line(`${node.kind};`);
      case "barrier":
        values.settle("all");
        return node.scope === "subgroup" ? target.barriers.subgroup(node) : target.barriers.workgroup();
      case "asyncCopy": {
        const taken = [node.toIndex, node.fromIndex, ...(node.active === null ? [] : [node.active])];
        const [to, from, active] = values.take(taken) as [Operand, Operand, Operand?];
        values.settle(node.to);
        return target.copies.start({ node, to, from, active: active ?? null });
      }
      case "commitCopies":
        return target.copies.commit();
      case "awaitCopies":
        values.settle("all");
        return target.copies.await(node);
      case "arrive": {
        const [index] = values.take([node.index]) as [Operand];
        values.settle("all");
        return target.phaseBarriers.arrive(node, index);
      }
      case "awaitPhase": {
        const [index, parity] = values.take([node.index, node.parity]) as [Operand, Operand];
        values.settle("all");
        return target.phaseBarriers.await(node, index, parity);
      }
      case "comment":
        for (const text of node.text.split("\n")) code.line(`// ${text}`);
        return;
      case "trace":
        return;
      default:
        return assertNever(node, "kind of node");
    }
  }

  #parameter(name: string): Expression {
    this.#code.used.scalars.add(name);
    return this.#target.inputs.parameter(this.#code.scalarName(name));
  }

  /** Under the user's name from here on, if it has one. */
  #namedBuiltin(node: BuiltinNode): void {
    const expression = this.#builtin(node.builtin);
    const name = givenName(node, node.result);
    if (name === null || name === expression.text) return this.#values.known(node.result, expression);
    const own = this.#code.names.take(name);
    this.#code.declareValue(own, "u32", expression.text);
    this.#values.known(node.result, simple(own));
  }

  #builtin(builtin: BuiltinName): Expression {
    this.#code.used.builtins.add(builtin);
    return this.#target.inputs.builtin(builtin);
  }

  #operation(op: OpName, operands: readonly Operand[], result: ScalarType): Expression {
    const { helper, note } = this.#code;
    noteNumbers(this.#name, op, result, note);
    return this.#target.operations[op](operands, { result, helper, note });
  }

  #load(node: LoadNode): void {
    if (!node.results.some((result) => this.#code.isUsed(result))) return;
    const { memory } = this.#target;
    const [index] = this.#values.take([node.index]) as [Operand];
    const [result] = node.results as [Value];
    if (node.results.length === 1) {
      const reads = new Set([...this.#values.reads, node.memory]);
      return this.#values.define(result, memory.load(node.memory, index), node, reads);
    }
    const parts = memory.loadMany(node.memory, index, node.results.length);
    node.results.forEach((value, k) =>
      this.#values.define(value, parts[k] as Expression, node, new Set([node.memory])),
    );
  }

  #if(node: IfNode): void {
    const code = this.#code;
    const [condition] = this.#values.take([node.condition]) as [Operand];
    this.#values.settle("all");
    const swap = node.then.nodes.length === 0 && node.else.nodes.length > 0;
    code.line(`if ${parenthesised(swap ? prefix("!", condition) : condition)} {`);
    this.#nested(swap ? node.else : node.then);
    if (!swap && node.else.nodes.length > 0) {
      code.out.add("} else {");
      this.#nested(node.else);
    }
    this.#endControl(node);
  }

  #for(node: ForNode): void {
    const { flow } = this.#target;
    const code = this.#code;
    const guards = loopGuards(code.ir, node);
    let [from] = this.#values.take([node.from]) as [Operand];
    this.#values.settle("all");
    // C evaluates these in each turn, so they must not read what the body may change.
    const stable = (value: Value, hint: string): Operand => {
      const [operand] = this.#values.take([value]) as [Operand];
      return this.#values.reads.size === 0
        ? operand
        : { ...operand, ...code.bind(operand, value.type, hint) };
    };
    let to = stable(node.to, "end");
    const step = stable(node.step, "step");
    if (guards.standsStill) {
      const { type } = node.step;
      from = { ...from, ...code.bind(from, type, "start") };
      const zero: Operand = { ...code.literal(type, 0), type, constant: 0 };
      const isZero: Operand = {
        ...this.#operation("eq", [step, zero], "bool"),
        type: "bool",
        constant: null,
      };
      const end = this.#operation("select", [isZero, from, to], type);
      to = { ...to, ...code.bind(end, type, "end"), constant: null };
    }
    flow.beforeLoop?.(node);
    code.names.open();
    const name = code.names.take(loopName(node, this.#loopDepth));
    this.#values.known(node.induction, simple(name));
    code.line(`${flow.forHeader({ node, name, from, to, step, passesEnd: guards.passesEnd })} {`);
    this.#loopBody(node);
    code.names.close();
    this.#endControl(node);
  }

  #while(node: WhileNode): void {
    const { flow } = this.#target;
    const code = this.#code;
    if (hasAtomic(node))
      code.note(
        "a loop around atomics, if it waits for others",
        emitTargets[this.#name].waits,
        false,
        "progress",
      );
    this.#values.settle("all");
    flow.beforeLoop?.(node);
    const around = code.out;
    const inside = new Lines(around.depth + 1);
    code.out = inside;
    code.names.open();
    flow.beginCondition?.(node);
    let test = "";
    this.#emitBlock(node.condition, () => {
      code.site = node.site;
      const [value] = this.#values.take([node.test]) as [Operand];
      test = parenthesised(value);
      if (!inside.isEmpty) code.line(`if ${parenthesised(prefix("!", value))} {\n  break;\n}`);
    });
    code.out = around;
    code.site = node.site;
    code.line(inside.isEmpty ? `while ${test} {` : flow.endless);
    code.out.append(inside);
    this.#loopBody(node);
    code.names.close();
    this.#endControl(node);
  }

  #loopBody(node: ForNode | WhileNode): void {
    this.#loopDepth++;
    this.#nested(node.body, () => this.#target.flow.beginLoopBody?.(node));
    this.#loopDepth--;
  }

  #roles(node: RolesNode): void {
    const code = this.#code;
    this.#values.settle("all");
    const word = (expression: Expression, constant: number | null): Operand => ({
      ...expression,
      type: "u32",
      constant,
    });
    const id = word(this.#builtin("subgroupId"), null);
    const number = (value: number): Operand => word(code.literal("u32", value), value);
    node.roles.forEach(({ name, first, count, body }, k) => {
      const below = infix("<", id, number(first + count));
      const condition =
        count === 1
          ? this.#operation("eq", [id, number(first)], "bool")
          : first === 0
            ? below
            : infix("&&", infix(">=", id, number(first)), below);
      code.line(`${k === 0 ? "" : "} else "}if ${parenthesised(condition)} {`);
      this.#nested(body, () => code.line(`// role ${name}`));
    });
    this.#endControl(node);
  }

  #endControl(node: Node): void {
    this.#code.out.add("}");
    this.#target.flow.afterControl?.(node);
  }
}
