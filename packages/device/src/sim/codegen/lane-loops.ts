/**
 * Runs of lane-varying arithmetic and variables as one loop over the lanes. Each run is a function of its own: small
 * enough for the engine to optimise, however long the kernel. Lanes that are not active compute too, on garbage;
 * only variables need masks.
 */

import { assertNever } from "@evolver/base";
import type {
  BuiltinName,
  BuiltinNode,
  OpNode,
  Value,
  VarGetNode,
  VarNode,
  VarSetNode,
  Variable,
} from "@evolver/kernel";
import { builtins } from "../analysis/builtins.ts";
import type { RegisterFile } from "../runtime/subgroup.ts";
import { operation } from "./expression.ts";
import { sourceLine } from "./text.ts";

export type LaneNode = OpNode | BuiltinNode | VarNode | VarGetNode | VarSetNode;

interface Registers {
  readonly file: RegisterFile;
  readonly at: number;
}

/** What the loop needs to know of the kernel around it. */
export interface LoopContext {
  /** The expression of a lane-invariant value: a literal or its name. */
  uniform(value: Value): string | null;
  valueName(value: Value): string;
  /** Takes registers for a value that has none. */
  registers(value: Value): Registers;
  variable(variable: Variable): Registers;
  isMasked(node: VarSetNode): boolean;
  /** Whether a result is read outside this run, given how often it is read inside. */
  escapes(value: Value, usesInside: number): boolean;
  readonly comments: boolean;
}

/** Returns the function's declaration and its call, or null where there is nothing to do. */
export function laneLoop(
  name: string,
  nodes: readonly LaneNode[],
  active: string,
  context: LoopContext,
): { declaration: string; call: string } | null {
  const loop = new LaneLoop(context);
  for (const node of nodes) loop.node(node);
  return loop.finish(name, active);
}

class LaneLoop {
  readonly #context: LoopContext;
  readonly #body: string[] = [];
  /** Lane-invariant values and coordinates that it reads. */
  readonly #parameters = new Set<string>();
  readonly #files = new Set<RegisterFile>();
  /** The names of values in the loop, and those of variables' present contents. */
  readonly #local = new Map<number, string>();
  readonly #contents = new Map<number, string>();
  /** How often each value is read in the loop. */
  readonly #inside = new Map<number, number>();
  readonly #results: Value[] = [];
  #usesMask = false;
  #line = "";

  constructor(context: LoopContext) {
    this.#context = context;
  }

  node(node: LaneNode): void {
    this.#comment(node);
    switch (node.kind) {
      case "builtin":
        return this.#define(node.result, this.#builtin(node.builtin));
      case "op": {
        const operands = node.operands.map((operand) => this.#read(operand));
        const name = this.#context.valueName(node.result);
        this.#body.push(operation(name, node, operands));
        return this.#result(node.result, name);
      }
      case "var":
        if (node.init !== null) this.#set(node.variable, this.#read(node.init), false);
        return;
      case "varSet":
        return this.#set(node.variable, this.#read(node.value), this.#context.isMasked(node));
      case "varGet": {
        const known = this.#contents.get(node.variable.id);
        if (known === undefined)
          return this.#define(node.result, this.#at(this.#context.variable(node.variable)));
        return this.#result(node.result, known);
      }
      default:
        return assertNever(node, "lane node");
    }
  }

  finish(name: string, active: string): { declaration: string; call: string } | null {
    for (const value of this.#results) {
      if (!this.#context.escapes(value, this.#inside.get(value.id) ?? 0)) continue;
      this.#body.push(`${this.#at(this.#context.registers(value))} = ${this.#local.get(value.id)};`);
    }
    if (this.#body.every((line) => line.startsWith("//"))) return null;
    const names = ["subgroup", ...(this.#usesMask ? ["active"] : []), ...this.#parameters];
    const given = ["subgroup", ...(this.#usesMask ? [active] : []), ...this.#parameters];
    const taken = [
      this.#files.size > 0 ? `const { ${[...this.#files].join(", ")} } = subgroup;` : "",
      this.#usesMask ? "const { mask } = active;" : "",
    ];
    return {
      declaration: `function ${name}(${names.join(", ")}) {
  ${taken.join("\n")}
  for (let lane = 0; lane < WIDTH; lane++) {
    ${this.#body.join("\n")}
  }
}`,
      call: `${name}(${given.join(", ")});`,
    };
  }

  #comment(node: LaneNode): void {
    if (!this.#context.comments) return;
    const line = sourceLine(node.site);
    if (line !== this.#line) this.#body.push(`// ${line}`);
    this.#line = line;
  }

  #at({ file, at }: Registers): string {
    this.#files.add(file);
    return `${file}[${at} + lane]`;
  }

  #read(value: Value): string {
    this.#inside.set(value.id, (this.#inside.get(value.id) ?? 0) + 1);
    const uniform = this.#context.uniform(value);
    if (uniform !== null) return this.#parameter(uniform);
    const known = this.#local.get(value.id);
    if (known !== undefined) return known;
    const name = this.#context.valueName(value);
    this.#body.push(`const ${name} = ${this.#at(this.#context.registers(value))};`);
    this.#local.set(value.id, name);
    return name;
  }

  /** A literal stands where it is used; a name is passed. */
  #parameter(expression: string): string {
    const isLiteral = /^[(\d]/.test(expression) || expression === "NaN" || expression === "Infinity";
    if (!isLiteral) this.#parameters.add(expression);
    return expression;
  }

  #define(value: Value, expression: string): void {
    const name = this.#context.valueName(value);
    this.#body.push(`const ${name} = ${expression};`);
    this.#result(value, name);
  }

  #result(value: Value, name: string): void {
    this.#local.set(value.id, name);
    this.#results.push(value);
  }

  #set(variable: Variable, value: string, masked: boolean): void {
    const store = `${this.#at(this.#context.variable(variable))} = ${value};`;
    this.#body.push(masked ? `if (mask[lane] !== 0) ${store}` : store);
    if (masked) {
      this.#usesMask = true;
      this.#contents.delete(variable.id);
    } else this.#contents.set(variable.id, value);
  }

  #builtin(builtin: BuiltinName): string {
    const { byLane, from } = builtins[builtin];
    if (from !== null) this.#parameter(from);
    return byLane;
  }
}
