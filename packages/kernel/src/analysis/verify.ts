/**
 * The executable specification of the IR: rules that every kernel must obey before anything runs or emits it, checked in one
 * pass in program order. Rules between invocations (uniformity, races) are checked elsewhere; types of operands in
 * operands.ts.
 */

import { assertNever } from "@evolver/base";
import type { UseShape } from "../ir/fields.ts";
import type { Block, ControlNode, ForNode, KernelIR, Node, RolesNode } from "../ir/nodes.ts";
import { isControl, schema } from "../ir/schema.ts";
import type { Site } from "../ir/site.ts";
import type { Memory, PhaseBarrier, Value, Variable } from "../ir/types.ts";
import {
  describeNode,
  findDefinition,
  memoriesOf,
  phaseBarriersOf,
  resultsHereOf,
  seeUses,
  variablesOf,
} from "../ir/walk.ts";
import { checkHeader } from "./header.ts";
import { IDENTIFIER, NAME_HINT, invalid } from "./invalid.ts";
import { checkOperands } from "./operands.ts";

/**
 * Checks a kernel against every rule of the IR.
 *
 * @throws EvolverError INVALID_IR that names the node, its line and, where two places are involved, the other's
 */
export function verify(ir: KernelIR): void {
  checkHeader(ir);
  new Verifier(ir).run();
}

/** Where `break` and `continue` may stand. */
type LoopPlace = "none" | "body" | "condition";

class Verifier {
  readonly #ir: KernelIR;
  readonly #memories: ReadonlySet<Memory>;
  /** By value id: the node that defined it, if the walk has come by. */
  readonly #definedBy: (Node | undefined)[];
  readonly #valueType: Value["type"][];
  /** By value id and by variable id: the number of the block that holds the definition, 0 for none yet. */
  readonly #valueBlock: Int32Array;
  readonly #variableBlock: Int32Array;
  readonly #declaredBy: (Node | undefined)[];
  readonly #variableType: Variable["type"][];
  /** By block number: 1 while the walk is inside. */
  readonly #open: number[] = [0];
  /** Keys of the constants, parameters and built-ins at the front. */
  readonly #leaves = new Map<string, Node>();
  #inRole: Node | null = null;
  #frontEnded = false;

  constructor(ir: KernelIR) {
    this.#ir = ir;
    const memories = new Set<Memory>(ir.shared);
    for (const param of ir.params) if (param.kind === "buffer") memories.add(param.memory);
    this.#memories = memories;
    this.#definedBy = Array.from({ length: ir.valueCount });
    this.#valueType = Array.from({ length: ir.valueCount });
    this.#valueBlock = new Int32Array(ir.valueCount);
    this.#variableBlock = new Int32Array(ir.variableCount);
    this.#declaredBy = Array.from({ length: ir.variableCount });
    this.#variableType = Array.from({ length: ir.variableCount });
  }

  run(): void {
    const ir = this.#ir;
    this.#block(ir.body, "none", () => {});
    const missing = this.#valueBlock.indexOf(0);
    if (missing >= 0) this.#fail(null, `value ${missing} of ${ir.valueCount} is defined nowhere`);
    const undeclared = this.#variableBlock.indexOf(0);
    if (undeclared >= 0)
      this.#fail(null, `variable ${undeclared} of ${ir.variableCount} is declared nowhere`);
  }

  /** Walks a block; `atEnd` runs while it is still open, `atStart` value (an induction) is defined in it. */
  #block(block: Block, loop: LoopPlace, atEnd: () => void, induction?: { node: ForNode }): void {
    const number = this.#open.length;
    this.#open.push(1);
    if (induction) this.#define(induction.node, induction.node.induction, number);
    const { nodes } = block;
    const last = nodes.length - 1;
    for (let i = 0; i <= last; i++) this.#node(nodes[i] as Node, number, loop, i === last);
    atEnd();
    this.#open[number] = 0;
  }

  #node(node: Node, block: number, loop: LoopPlace, isLast: boolean): void {
    const { kind } = node;
    if (kind === "const" || kind === "param" || kind === "builtin") this.#leaf(node, block);
    else if (kind !== "comment") this.#frontEnded = true;

    if (!Object.hasOwn(schema, kind)) this.#fail(node, `has an unknown kind "${String(kind)}"`);
    seeUses(node, (value, shape) => {
      if (shape.endOf === null) this.#operand(node, value, shape);
    });
    checkOperands(node, this.#ir, (what) => this.#fail(node, what));
    for (const { memory } of memoriesOf(node)) this.#memory(node, memory);
    for (const barrier of phaseBarriersOf(node)) this.#phaseBarrier(node, barrier);
    for (const { variable, does } of variablesOf(node)) {
      if (does === "declare") this.#declare(node, variable, block);
      else this.#variable(node, variable);
    }
    if (this.#inRole !== null && node.kind === "uniformLoad")
      this.#fail(node, "stands in a role, which only some subgroups run", this.#inRole, "the roles");
    if (isControl(node)) this.#control(node, loop, isLast);
    for (const result of resultsHereOf(node)) this.#define(node, result, block);
  }

  #control(node: ControlNode, loop: LoopPlace, isLast: boolean): void {
    switch (node.kind) {
      case "if":
        this.#block(node.then, loop, () => {});
        this.#block(node.else, loop, () => {});
        break;
      case "for":
        this.#checkFor(node);
        this.#block(node.body, "body", () => {}, { node });
        break;
      case "while":
        this.#block(node.condition, "condition", () => {
          seeUses(node, (value, shape) => this.#operand(node, value, shape));
        });
        this.#block(node.body, "body", () => {});
        break;
      case "roles":
        this.#roles(node, loop);
        break;
      case "break":
      case "continue":
        if (loop === "none") this.#fail(node, "stands outside every loop");
        if (loop === "condition") this.#fail(node, "stands in the condition of a while, not in its body");
        if (!isLast) this.#fail(node, "is not the last node of its block");
        break;
      default:
        assertNever(node, "kind of node");
    }
  }

  #leaf(node: Node & { kind: "const" | "param" | "builtin" }, block: number): void {
    if (block !== 1 || this.#frontEnded) this.#fail(node, "does not stand at the front of the kernel's body");
    const key =
      node.kind === "const"
        ? `${node.result.type} ${Object.is(node.value, -0) ? "-0" : String(node.value)}`
        : node.kind === "param"
          ? `param ${node.name}`
          : node.builtin;
    const earlier = this.#leaves.get(key);
    if (earlier !== undefined) this.#fail(node, "stands twice at the front", earlier, "the first one");
    this.#leaves.set(key, node);
  }

  #checkFor(node: ForNode): void {
    const step = this.#definedBy[node.step.id];
    const constant = step?.kind === "const" ? Number(step.value) : null;
    if (node.direction === "down") {
      if (constant === null || !(constant < 0))
        this.#fail(node, "counts down, so its step must be a negative constant", step, "the step");
    } else if (node.direction === "up") {
      if (constant !== null && !(constant > 0))
        this.#fail(node, `counts up by ${constant}`, step, "the step");
      if (constant === null && node.step.type !== "u32")
        this.#fail(node, "counts up by a step that is not a constant, so it must be u32", step, "the step");
    } else {
      this.#fail(node, `has direction "${String(node.direction)}"`);
    }
    const { unroll } = node;
    if (typeof unroll !== "boolean" && !(Number.isInteger(unroll) && unroll >= 1))
      this.#fail(node, `has unroll ${String(unroll)}: a boolean or a factor from 1`);
  }

  #roles(node: RolesNode, loop: LoopPlace): void {
    const [x, y, z] = this.#ir.workgroupSize;
    const subgroups = Math.ceil((x * y * z) / this.#ir.subgroupSize);
    const owner: (string | undefined)[] = Array.from({ length: subgroups });
    const names = new Set<string>();
    for (const { name, first, count } of node.roles) {
      if (name === "" || names.has(name))
        this.#fail(node, `has two roles named "${name}", or one without name`);
      names.add(name);
      if (!Number.isInteger(first) || !Number.isInteger(count) || first < 0 || count < 1)
        this.#fail(node, `gives role ${name} subgroups from ${first}, ${count} of them`);
      if (first + count > subgroups)
        this.#fail(
          node,
          `gives role ${name} subgroups ${first} to ${first + count - 1}, but the workgroup has ${subgroups}`,
        );
      for (let s = first; s < first + count; s++) {
        if (owner[s] !== undefined)
          this.#fail(node, `gives subgroup ${s} to both role ${owner[s]} and role ${name}`);
        owner[s] = name;
      }
    }
    const outer = this.#inRole;
    this.#inRole = node;
    for (const role of node.roles) this.#block(role.body, loop, () => {});
    this.#inRole = outer;
  }

  #memory(node: Node, memory: Memory): void {
    if (!this.#memories.has(memory))
      this.#fail(node, `touches memory ${memory.name}, which the kernel does not declare`);
  }

  #phaseBarrier(node: Node, barrier: PhaseBarrier): void {
    if (!this.#ir.phaseBarriers.includes(barrier))
      this.#fail(node, `touches phase barriers ${barrier.name}, which the kernel does not declare`);
  }

  #define(node: Node, value: Value, block: number): void {
    const { id } = value;
    if (!(id >= 0 && id < this.#ir.valueCount) || !Number.isInteger(id))
      this.#fail(node, `defines value ${id}, but ids run from 0 to ${this.#ir.valueCount - 1}`);
    const earlier = this.#definedBy[id];
    if (earlier !== undefined) this.#fail(node, `defines value ${id} again`, earlier, "first defined here");
    this.#definedBy[id] = node;
    this.#valueType[id] = value.type;
    this.#valueBlock[id] = block;
  }

  #declare(node: Node, variable: Variable, block: number): void {
    const { id } = variable;
    if (!(id >= 0 && id < this.#ir.variableCount) || !Number.isInteger(id))
      this.#fail(node, `declares variable ${id}, but ids run from 0 to ${this.#ir.variableCount - 1}`);
    if (!IDENTIFIER.test(variable.name))
      this.#fail(node, "has a name that is not an identifier", undefined, undefined, NAME_HINT);
    const earlier = this.#declaredBy[id];
    if (earlier !== undefined)
      this.#fail(node, `declares variable ${id} again`, earlier, "first declared here");
    this.#declaredBy[id] = node;
    this.#variableType[id] = variable.type;
    this.#variableBlock[id] = block;
  }

  #variable(node: Node, variable: Variable): void {
    const { id } = variable;
    const block = this.#variableBlock[id] ?? 0;
    const declaration = this.#declaredBy[id];
    if (block === 0) this.#fail(node, `uses variable ${id} before its declaration`);
    if (this.#open[block] !== 1)
      this.#fail(node, "uses a variable outside the block that declares it", declaration, "declared here");
    if (variable.type !== this.#variableType[id])
      this.#fail(node, `takes the variable for ${variable.type}`, declaration, "declared otherwise here");
  }

  #use(node: Node, value: Value, what: string): void {
    const block = this.#valueBlock[value.id] ?? 0;
    const definition = this.#definedBy[value.id];
    if (block === 0) {
      const later = findDefinition(this.#ir, value.id);
      this.#fail(
        node,
        `uses value ${value.id} (${what}) ${later ? "before its definition" : "that nothing defines"}`,
        later,
        "defined here",
      );
    }
    if (this.#open[block] !== 1)
      this.#fail(node, `uses value ${value.id} (${what}) outside its block`, definition, "defined here");
    if (value.type !== this.#valueType[value.id])
      this.#fail(
        node,
        `takes value ${value.id} (${what}) for ${value.type}`,
        definition,
        "of another type here",
      );
  }

  #operand(node: Node, value: Value, { label, types }: UseShape): void {
    this.#use(node, value, label);
    if (types === null || types.includes(value.type)) return;
    const article = /^[aeiou]/.test(label) ? "an" : "a";
    const wanted = types.length === 1 ? `, not ${types[0]}` : "";
    this.#fail(node, `has ${article} ${label} of type ${value.type}${wanted}`);
  }

  #fail(
    node: Node | null,
    what: string,
    other?: { readonly site: Site } | undefined,
    note?: string,
    hint?: string,
  ): never {
    throw invalid(
      node === null ? `kernel ${this.#ir.name}: ${what}` : `${describeNode(node)} ${what}`,
      (node ?? this.#ir).site,
      { other: other?.site, note, hint },
    );
  }
}
