/**
 * Emits a kernel as a plain JavaScript module: `run({ workgroups, args })` on typed arrays, one workgroup after the
 * other. Made for reading and for checking other devices against; the `cpu` device is the fast one. Invocations that
 * never wait for each other are a loop; otherwise each is a generator that stops where it must wait.
 */

import type { BuiltinName } from "../../ir/builtins.ts";
import type {
  AtomicNode,
  BarrierNode,
  ForNode,
  KernelIR,
  LoadNode,
  Node,
  StoreNode,
  SubgroupNode,
  UniformLoadNode,
  WhileNode,
} from "../../ir/nodes.ts";
import { isHalf, type ElementType, type Memory, type ScalarType, type Variable } from "../../ir/types.ts";
import { blocksOf } from "../../ir/walk.ts";
import { Emitter } from "../core/emitter.ts";
import { atom, call, infix, simple, type Expression, type Operand } from "../core/expression.ts";
import { finish, headerComment } from "../core/finish.ts";
import { jsHelpers } from "./helpers.ts";
import { jsLiteral, jsRows } from "./rows.ts";
import { Lines } from "../core/lines.ts";
import { builtinName } from "../core/names.ts";
import type { EmitOptions, Emitted } from "../core/result.ts";
import { hasAtomic } from "../core/uses.ts";
import { helperTexts } from "../core/rows.ts";

const ARRAYS: Readonly<Record<ElementType, string>> = {
  f32: "Float32Array",
  i32: "Int32Array",
  u32: "Uint32Array",
  f16: "Uint16Array",
  bf16: "Uint16Array",
};

export class JsEmitter extends Emitter {
  protected override readonly rows = jsRows;
  protected override readonly equals = "===";
  /** Whether invocations wait for each other. */
  readonly #forwardProgress: boolean;
  /** Where lanes can wait, in the order in which they go on: see runSubgroup. */
  readonly #places: Places;

  constructor(ir: KernelIR, options: EmitOptions) {
    super(ir, options, jsHelpers);
    this.#places = new Places(ir);
    this.#forwardProgress = this.#places.any;
    this.helper("fround");
  }

  emit(): Emitted {
    this.out.depth = 5;
    this.body();
    const body = this.out;
    const file = new Lines();
    file.add(
      headerComment(this.ir, [
        "run({ workgroups: 4 or [x, y, z], args: { name: number or typed array } })",
        'an ES module: name the file .mjs, or say "type": "module" in package.json',
      ]),
    );
    if (this.#forwardProgress) this.helper("runWorkgroup");
    file.add("");
    for (const text of helperTexts(jsHelpers, this.helpers)) file.add(text);
    file.add("");
    this.#function(file, body);
    return finish(this.ir, "js", "run", file, this.log, { grid: "native" });
  }

  #function(file: Lines, body: Lines): void {
    const { ir } = this;
    const { site } = ir;
    const [x, y, z] = ir.workgroupSize;
    file.add("export function run({ workgroups, args }) {", site);
    file.depth = 1;
    for (const param of ir.params) {
      const given = `args.${param.name}`;
      if (param.kind === "buffer") file.add(`const ${this.memoryName(param.memory)} = ${given};`, site);
      else {
        const value =
          param.type === "f32" ? `fround(${given})` : `${given} ${param.type === "i32" ? "|" : ">>>"} 0`;
        file.add(`const ${this.scalarName(param.name)} = ${value};`, site);
      }
    }
    file.add("const [numWorkgroupsX, numWorkgroupsY = 1, numWorkgroupsZ = 1] = [workgroups].flat();");
    if (this.usedBuiltins.has("workgroupIndex")) file.add("let workgroupIndex = -1;");
    for (const axis of ["Z", "Y", "X"]) {
      const id = `workgroupId${axis}`;
      file.add(`for (let ${id} = 0; ${id} < numWorkgroups${axis}; ${id}++) {`);
      file.depth++;
    }
    if (this.usedBuiltins.has("workgroupIndex")) file.add("workgroupIndex++;");
    for (const memory of ir.shared)
      file.add(`const ${this.memoryName(memory)} = new ${ARRAYS[memory.element]}(${memory.length});`, site);
    file.add(
      this.#forwardProgress
        ? "function* invocation(localIndex) {"
        : `for (let localIndex = 0; localIndex < ${x * y * z}; localIndex++) {`,
    );
    file.depth++;
    for (const builtin of this.usedBuiltins) {
      const text = this.#builtinValue(builtin);
      if (text !== null) file.add(`const ${builtinName(builtin)} = ${text};`);
    }
    file.append(body);
    file.depth--;
    file.add("}");
    if (this.#forwardProgress) {
      file.add(
        `const invocations = Array.from({ length: ${x * y * z} }, (_, localIndex) => invocation(localIndex));`,
      );
      file.add(`runWorkgroup(invocations, ${ir.subgroupSize});`);
    }
    while (file.depth > 0) {
      file.depth--;
      file.add("}");
    }
  }

  #builtinValue(builtin: BuiltinName): string | null {
    const [x, y, z] = this.ir.workgroupSize;
    const local = {
      x: y * z === 1 ? "localIndex" : `localIndex % ${x}`,
      y: z === 1 ? `Math.floor(localIndex / ${x})` : `Math.floor(localIndex / ${x}) % ${y}`,
      z: `Math.floor(localIndex / ${x * y})`,
    };
    const [name, axis] = builtin.split(".") as [string, "x" | "y" | "z"];
    if (name === "localId") return local[axis];
    if (name === "globalId") {
      const size = { x, y, z }[axis];
      const id = builtinName(`workgroupId.${axis}`);
      return `(${id} * ${size} + ${local[axis]}) >>> 0`;
    }
    if (builtin === "subgroupId") return `Math.floor(localIndex / ${this.ir.subgroupSize})`;
    if (builtin === "lane") return `localIndex % ${this.ir.subgroupSize}`;
    return null;
  }

  protected override literal(_type: ScalarType, value: number | boolean): Expression {
    return jsLiteral(value);
  }

  protected override parameter(name: string): Expression {
    return simple(name);
  }

  protected override builtin(builtin: BuiltinName): Expression {
    return simple(builtinName(builtin));
  }

  protected override declareValue(name: string, _type: ScalarType, text: string): string {
    return `const ${name} = ${text};`;
  }

  protected override declareVariable(name: string, type: Variable["type"], text: string | null): string {
    return `let ${name} = ${text ?? (type === "bool" ? "false" : "0")};`;
  }

  protected override element(memory: Memory, index: Expression): Expression {
    return atom(`${this.memoryName(memory)}[${index.text}]`);
  }

  /** Elements of two bytes are held as their bits. */
  protected override loadElement(memory: Memory, index: Expression): Expression {
    const element = this.element(memory, index);
    if (!isHalf(memory.element)) return element;
    return call(this.helper(`expand${memory.element.toUpperCase()}`), element);
  }

  protected override storeElement(memory: Memory, index: Expression, value: Expression): void {
    const { element } = memory;
    const text = isHalf(element)
      ? call(this.helper(`bitsOf${element.toUpperCase()}`), value).text
      : value.text;
    this.line(`${this.element(memory, index).text} = ${text};`);
  }

  protected override wideLoad(node: LoadNode, index: Operand): readonly Expression[] {
    const base = this.bind(index, "index", "offset");
    this.note(wide(node, node.results.length), `${node.results.length} scalar loads`, true);
    return node.results.map((_, k) => this.loadElement(node.memory, at(base, k)));
  }

  protected override wideStore(node: StoreNode, index: Operand, values: readonly Operand[]): void {
    const base = this.bind(index, "index", "offset");
    this.note(wide(node, values.length), `${values.length} scalar stores`, true);
    values.forEach((value, k) => this.storeElement(node.memory, at(base, k), value));
  }

  protected override atomic(node: AtomicNode, index: Operand, operands: readonly Operand[]): Expression {
    const element = this.element(node.memory, index);
    if (node.op === "load") return element;
    if (node.op === "store") return atom(`${element.text} = ${(operands[0] as Operand).text}`);
    const name = this.helper(`atomic${node.op[0]?.toUpperCase()}${node.op.slice(1)}`);
    return call(name, simple(this.memoryName(node.memory)), index, ...operands);
  }

  protected override barrier(): void {
    this.line("yield BARRIER;");
  }

  protected override subgroupBarrier(node: BarrierNode): void {
    this.#meet(this.#places.of(node), "together");
  }

  protected override uniformLoad(node: UniformLoadNode, index: Operand): Expression {
    const stable = this.bind(index, "index", "offset");
    this.barrier();
    const value = this.bind(
      this.loadElement(node.memory, stable),
      node.memory.element,
      `${node.memory.name}Value`,
    );
    this.barrier();
    return value;
  }

  protected override subgroup(node: SubgroupNode, operands: readonly Operand[]): readonly Expression[] {
    const [value, second] = operands as [Operand, Operand | undefined];
    const type = value.type.toUpperCase();
    const place = this.#places.of(node);
    const request = (operation: string, source?: Expression): Expression => {
      const parts = [String(place), this.helper(operation), value.text];
      if (source !== undefined) parts.push(source.text);
      return { text: `yield [${parts.join(", ")}]`, precedence: Infinity };
    };
    const lane = (operator: string): Expression => {
      this.usedBuiltins.add("lane");
      return infix(operator, simple("lane"), second as Operand);
    };
    switch (node.op) {
      case "sum":
      case "min":
      case "max":
        return [request(`subgroup${node.op[0]?.toUpperCase()}${node.op.slice(1)}${type}`)];
      case "inclusiveSum":
      case "exclusiveSum":
        return [request(`${node.op}${type}`)];
      case "any":
      case "all":
        return [request(node.op)];
      case "ballot": {
        const words = this.bind(request("ballot"), "u32", "votes");
        return node.results.map((_, k) => simple(`${words.text}[${k}]`));
      }
      case "broadcastFirst":
        return [request("first")];
      case "broadcast":
      case "shuffle":
        return [request("gather", second)];
      case "shuffleXor":
        return [request("gather", lane("^"))];
      case "shuffleUp":
        return [request("gather", lane("-"))];
      case "shuffleDown":
        return [request("gather", lane("+"))];
    }
  }

  protected override forHeader(
    node: ForNode,
    name: string,
    from: Expression,
    to: Expression,
    step: Operand,
  ): string {
    const test = infix(node.direction === "up" ? "<" : ">", simple(name), to);
    const next = infix("+", simple(name), step);
    const wrapped = infix(node.induction.type === "i32" ? "|" : ">>>", next, simple("0"));
    return `for (let ${name} = ${from.text}; ${test.text}; ${name} = ${wrapped.text})`;
  }

  protected override beginCondition(node: WhileNode): void {
    if (this.#places.meetsAt(node)) this.#meet(this.#places.turn(node), "together");
  }

  protected override beginLoopBody(node: ForNode | WhileNode): void {
    if (node.kind === "for" && this.#places.meetsAt(node)) this.#meet(this.#places.turn(node), "together");
    if (this.#places.spins(node)) this.#meet(this.#places.turn(node), "spin");
  }

  protected override afterControl(node: Node): void {
    // Lockstep: no lane goes on from a wait before all have seen what they wait for.
    if (this.#places.meetsAt(node) || this.#places.spins(node))
      this.#meet(this.#places.exit(node), "together");
  }

  #meet(place: number, operation: string): void {
    this.line(`yield [${place}, ${this.helper(operation)}];`);
  }
}

/** The k-th element after one. */
const at = (base: Expression, k: number): Expression =>
  k === 0 ? base : infix("+", base, simple(String(k)));

function wide(node: LoadNode | StoreNode, width: number): string {
  return `${node.kind} of ${width} consecutive ${node.memory.element} of ${node.memory.name}`;
}

/**
 * Numbers the places where a lane can stop, such that lanes which stand at a smaller one have to go on first for the
 * subgroup to come together again: in program order, a loop's next turn after all of its body, its exit after that.
 */
class Places {
  readonly any: boolean;
  readonly #numbers = new Map<Node, number>();
  readonly #turns = new Map<Node, number>();
  readonly #meeting = new Set<Node>();
  readonly #spinning = new Set<Node>();

  constructor(ir: KernelIR) {
    let next = 0;
    let any = false;
    // Where control flow is proved uniform for each subgroup, its lanes never part between subgroup operations.
    const mayPart = ir.uniformity === "dynamic";
    const visit = (node: Node): boolean => {
      const meets = node.kind === "subgroup" || (node.kind === "barrier" && node.scope === "subgroup");
      let holds = meets;
      for (const block of blocksOf(node)) for (const inner of block.nodes) holds = visit(inner) || holds;
      if (node.kind === "while" && hasAtomic(node)) this.#spinning.add(node);
      if (meets) this.#numbers.set(node, next++);
      else if (blocksOf(node).length > 0) {
        this.#turns.set(node, next++);
        this.#numbers.set(node, next++);
        if (mayPart && holds) this.#meeting.add(node);
      }
      any ||= holds || this.#spinning.has(node) || node.kind === "barrier" || node.kind === "uniformLoad";
      return holds;
    };
    for (const node of ir.body.nodes) visit(node);
    this.any = any;
  }

  of(node: Node): number {
    return this.#numbers.get(node) as number;
  }
  exit(node: Node): number {
    return this.#numbers.get(node) as number;
  }
  turn(node: Node): number {
    return this.#turns.get(node) as number;
  }
  meetsAt(node: Node): boolean {
    return this.#meeting.has(node);
  }
  spins(node: Node): boolean {
    return this.#spinning.has(node);
  }
}
