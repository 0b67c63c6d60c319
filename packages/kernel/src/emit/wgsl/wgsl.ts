/**
 * Emits a kernel as WGSL. All scalars go in one uniform struct, after them the true numbers of workgroups where the
 * grid is "linear"; buffers are the bindings of group 0 in order. What WGSL lacks is in the lowering report.
 */

import { EvolverError } from "@evolver/base";
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
} from "../../ir/nodes.ts";
import {
  elementBytes,
  isHalf,
  type Memory,
  type WordType,
  type ScalarType,
  type Variable,
} from "../../ir/types.ts";
import { visitNodes } from "../../ir/walk.ts";
import { Emitter } from "../core/emitter.ts";
import { atom, call, infix, prefix, simple, type Expression, type Operand } from "../core/expression.ts";
import { finish, headerComment } from "../core/finish.ts";
import { Lines } from "../core/lines.ts";
import { builtinName } from "../core/names.ts";
import type { EmitOptions, Emitted, StorageBinding, UniformField } from "../core/result.ts";
import { accessWidths, halfTypesOf, memoriesOf } from "../core/uses.ts";
import { helperTexts, type HelperTable, type OpTable } from "../core/rows.ts";
import { subgroupBarrierCheck, subgroupCall } from "./subgroups.ts";
import { withHalves } from "./half.ts";
import { atomicCall } from "./atomics.ts";
import { AXES, openEntry, TAKEN_NAMES } from "./entry.ts";
import { PackedMemories } from "./packed.ts";
import { chosen, WGSL_TYPES, wgslLiteral, wgslRows } from "./rows.ts";
import { wgslHelpers } from "./helpers.ts";

/** Every field of the uniform struct has four bytes. */
const WORD_BYTES = 4;

export class WgslEmitter extends Emitter {
  protected override readonly rows: OpTable;
  protected override readonly forever = "loop {";
  protected override readonly choose = chosen;
  readonly #helpers: HelperTable;
  /** The narrowest access to each memory: what its array is made of, for a binding has one type. */
  readonly #widths: ReadonlyMap<Memory, number>;
  /** Memory whose elements WGSL does not have. */
  readonly #packed: PackedMemories;
  /** Whether WGSL's own f16 is used. */
  readonly #hasF16: boolean;
  readonly #hasSubgroups: boolean;
  readonly #hasReadWrite: boolean;
  readonly #checkBarrier: (node: BarrierNode) => void;
  #readsParams = false;

  /** What the emitted statements access. */
  readonly #touched = new Set<Memory>();

  /** @throws EvolverError DYNAMIC_UNIFORMITY for a kernel whose uniformity is not proved, which WebGPU refuses */
  constructor(ir: KernelIR, options: EmitOptions) {
    const halves = halfTypesOf(ir).all;
    const hasF16 = options.shaderF16 !== false && halves.has("f16");
    const helpers = wgslHelpers(ir.subgroupSize, hasF16);
    super(ir, options, helpers, TAKEN_NAMES);
    this.#hasF16 = hasF16;
    this.rows = withHalves(wgslRows, hasF16);
    if (ir.uniformity === "dynamic") {
      throw new EvolverError(
        "DYNAMIC_UNIFORMITY",
        `kernel "${ir.name}" leaves its uniformity to be checked at run time, and WebGPU takes none such`,
        {
          where: [ir.site.location],
          hint: 'make conditions around barriers uniform (gpu.uniformLoad helps) and drop uniformity: "dynamic"',
        },
      );
    }
    this.#helpers = helpers;
    this.#checkBarrier = subgroupBarrierCheck(ir);
    this.#widths = accessWidths(ir);
    const lacking = memoriesOf(ir).filter(({ element }) => isHalf(element) && !this.#isNative(element));
    this.#packed = new PackedMemories(ir, lacking, this.#widths, {
      element: (memory, index) => this.element(memory, index),
      bind: (expression, hint) => this.bind(expression, "u32", hint),
      line: (text) => this.line(text),
      helper: (name) => this.helper(name),
      note: (request, became) => this.note(request, became, true),
    });
    let hasSubgroups = false;
    visitNodes(ir.body, (node) => (hasSubgroups ||= node.kind === "subgroup"));
    this.#hasSubgroups = hasSubgroups;
    this.#hasReadWrite = ir.params.some(
      (param) => param.kind === "buffer" && param.memory.access === "read_write",
    );
  }

  /** Whether WGSL's own f16 holds a type. */
  #isNative(type: ScalarType): boolean {
    return type === "f16" && this.#hasF16;
  }

  get #isLinear(): boolean {
    return this.options.grid !== "native";
  }

  emit(): Emitted {
    const { ir } = this;
    const entryPoint = this.names.take(ir.name);
    this.body();
    const file = new Lines();
    if (this.#hasF16) file.add("enable f16;");
    if (this.#hasSubgroups) {
      file.add("enable subgroups;");
      file.add("// Uniformity is proved before this is emitted, by rules that know more than WGSL's.");
      file.add("diagnostic(off, subgroup_uniformity);");
      file.add("");
    }
    file.add(headerComment(ir));
    file.add("");
    const bindings = this.#bindings(file);
    const uniform = this.#uniform(file, bindings.length);
    for (const memory of ir.shared)
      file.add(`var<workgroup> ${this.memoryName(memory)}: ${this.#array(memory, memory.length)};`, ir.site);
    const texts = helperTexts(this.#helpers, this.helpers);
    for (const text of texts) file.add(`\n${text}`);
    file.add("");
    this.#entry(file, entryPoint, this.out);
    const grid = this.#isLinear ? "linear" : "native";
    return finish(ir, "wgsl", entryPoint, file, this.log, { grid, bindings, uniform });
  }

  #bindings(file: Lines): StorageBinding[] {
    const bindings: StorageBinding[] = [];
    for (const param of this.ir.params) {
      if (param.kind !== "buffer") continue;
      const { memory } = param;
      const binding = bindings.length;
      const readOnly = memory.access === "read";
      const access = readOnly ? "read" : "read_write";
      const type = this.#array(memory, null);
      file.add(
        `@group(0) @binding(${binding}) var<storage, ${access}> ${this.memoryName(memory)}: ${type};`,
        this.ir.site,
      );
      bindings.push({
        name: param.name,
        binding,
        element: memory.element,
        readOnly,
        minBytes: this.#elementBytes(memory),
      });
    }
    return bindings;
  }

  #uniform(file: Lines, binding: number): Emitted["uniform"] {
    const fields: UniformField[] = [];
    const lines: string[] = [];
    const add = (name: string, type: WordType, text: string): void => {
      fields.push({ name, type, offset: fields.length * WORD_BYTES });
      lines.push(`  ${text}: ${type},`);
    };
    for (const param of this.ir.params)
      if (param.kind === "scalar") add(param.name, param.type, this.scalarName(param.name));
    if (this.#isLinear)
      for (const axis of AXES) add(`numWorkgroups.${axis}`, "u32", builtinName(`numWorkgroups.${axis}`));
    if (fields.length === 0) return null;
    file.add(`struct Params {\n${lines.join("\n")}\n}`, this.ir.site);
    file.add(`@group(0) @binding(${binding}) var<uniform> params: Params;`, this.ir.site);
    return { binding, bytes: Math.ceil((fields.length * WORD_BYTES) / 16) * 16, fields };
  }

  /** Elements in a vector of the array; WGSL has none of 8. */
  #width(memory: Memory): number {
    return Math.min(4, this.#widths.get(memory) ?? 1);
  }

  /** The size of an element of the array as declared. */
  #elementBytes(memory: Memory): number {
    if (this.#packed.has(memory)) return this.#packed.wordsOf(memory) * WORD_BYTES;
    return elementBytes(memory.element) * this.#width(memory);
  }

  #array(memory: Memory, length: number | null): string {
    if (this.#packed.has(memory)) return this.#packed.array(memory, length);
    const width = this.#width(memory);
    const plain = memory.atomic && memory.element === "f32" ? "u32" : memory.element;
    const scalar = memory.atomic ? `atomic<${plain}>` : plain;
    const element = width === 1 ? scalar : `vec${width}<${plain}>`;
    return length === null ? `array<${element}>` : `array<${element}, ${Math.ceil(length / width)}>`;
  }

  #entry(file: Lines, entryPoint: string, body: Lines): void {
    const { ir, usedBuiltins, options } = this;
    openEntry(file, entryPoint, ir, usedBuiltins, {
      isLinear: this.#isLinear,
      hasSubgroups: this.#hasSubgroups,
      hasSubgroupId: this.#hasSubgroups && options.subgroupId !== "computed",
    });
    // What nothing touches still belongs to the interface: a layout made from the shader must have it.
    for (const param of ir.params)
      if (param.kind === "buffer" && !this.#touched.has(param.memory))
        file.add(`_ = &${this.memoryName(param.memory)};`, ir.site);
    if (!this.#isLinear && !this.#readsParams && ir.params.some(({ kind }) => kind === "scalar"))
      file.add("_ = &params;", ir.site);
    file.append(body);
    file.depth = 0;
    file.add("}");
  }

  protected override builtin(builtin: BuiltinName): Expression {
    const [name, axis] = builtin.split(".");
    if (name === "localId") return simple(`localId.${axis}`);
    if (name === "numWorkgroups")
      return simple(this.#isLinear ? `params.${builtinName(builtin)}` : `gridSize.${axis}`);
    if (name === "workgroupId" && !this.#isLinear) return simple(`groupId.${axis}`);
    return simple(builtinName(builtin));
  }

  protected override literal(type: ScalarType, value: number | boolean): Expression {
    const isPlain = typeof value === "boolean" || (Number.isFinite(value) && !Object.is(value, -0));
    if (isHalf(type) && !this.#isNative(type)) return this.literal("f32", value);
    if (isPlain) return wgslLiteral(type, value);
    if (type === "f16") return { ...call("f16", this.literal("f32", value)), simple: true };
    const name = Number.isNaN(value) ? "nanBits" : value === 0 ? "negativeZeroBits" : "infinityBits";
    const bits = { ...call("bitcast<f32>", simple(this.helper(name))), simple: true };
    return value === -Infinity ? { ...prefix("-", bits), simple: true } : bits;
  }

  /** Names an operand where WGSL would compute with constants while compiling, and refuse what wraps or divides by 0. */
  protected override prepare(node: Node & { kind: "op" }, operands: readonly Operand[]): readonly Operand[] {
    const [first, second] = operands as [Operand, Operand | undefined];
    const hide = (operand: Operand): Operand => ({
      ...operand,
      ...this.bind({ ...operand, simple: false }, operand.type, "literal"),
      constant: null,
    });
    const isConstant = operands.every(({ constant }) => constant !== null);
    const divides =
      node.op === "divTrunc" || node.op === "divFloor" || node.op === "remTrunc" || node.op === "modFloor";
    const left = isConstant ? hide(first) : first;
    if (divides && second?.constant === 0) return [left, hide(second)];
    return [left, ...operands.slice(1)];
  }

  protected override parameter(name: string): Expression {
    this.#readsParams = true;
    return simple(`params.${name}`);
  }

  protected override declareValue(name: string, _type: ScalarType, text: string): string {
    return `let ${name} = ${text};`;
  }

  protected override declareVariable(name: string, type: Variable["type"], text: string | null): string {
    return `var ${name}: ${isHalf(type) ? (this.#isNative(type) ? "f16" : "f32") : WGSL_TYPES[type]}${text === null ? "" : ` = ${text}`};`;
  }

  protected override element(memory: Memory, index: Expression): Expression {
    this.#touched.add(memory);
    return atom(`${this.memoryName(memory)}[${index.text}]`);
  }

  protected override loadElement(memory: Memory, index: Operand): Expression {
    return this.#packed.has(memory) ? this.#packed.load(memory, index) : this.element(memory, index);
  }

  protected override storeElement(memory: Memory, index: Operand, value: Operand): void {
    if (this.#packed.has(memory)) this.#packed.store(memory, index, value);
    else super.storeElement(memory, index, value);
  }

  protected override wideLoad(node: LoadNode, index: Operand): readonly Expression[] {
    const { memory, results } = node;
    if (this.#packed.has(memory)) return this.#packed.loadMany(memory, index, results.length);
    const width = this.#width(memory);
    this.#noteWidth("load", memory, results.length);
    if (width === 1) {
      const base = this.bind(index, index.type, "offset");
      return results.map((_, k) => this.#at(memory, base, index.type, k));
    }
    const parts = this.#vectors(memory, index, results.length / width).map((element) => {
      const name = this.names.take(`${memory.name}Vector`);
      this.line(`let ${name} = ${element.text};`);
      return name;
    });
    return results.map((_, k) => simple(`${parts[Math.floor(k / width)]}.${"xyzw"[k % width]}`));
  }

  protected override wideStore(node: StoreNode, index: Operand, values: readonly Operand[]): void {
    const { memory } = node;
    if (this.#packed.has(memory)) return this.#packed.storeMany(memory, index, values);
    const width = this.#width(memory);
    this.#noteWidth("store", memory, values.length);
    if (width === 1) {
      const base = this.bind(index, index.type, "offset");
      values.forEach((value, k) =>
        this.line(`${this.#at(memory, base, index.type, k).text} = ${value.text};`),
      );
      return;
    }
    this.#vectors(memory, index, values.length / width).forEach((element, k) => {
      const vector = call(`vec${width}<${memory.element}>`, ...values.slice(k * width, (k + 1) * width));
      this.line(`${element.text} = ${vector.text};`);
    });
  }

  #noteWidth(action: string, memory: Memory, asked: number): void {
    const width = this.#width(memory);
    const parts = asked / width;
    const became =
      parts === 1 ? `vec${width}` : `${parts} ${action}s of ${width === 1 ? "a scalar" : `vec${width}`}`;
    const isWidest = width === 4;
    const why =
      parts === 1
        ? ""
        : isWidest
          ? ", the widest vectors"
          : `: ${memory.name} is also accessed ${width === 1 ? "singly" : "in pairs"}`;
    this.note(
      `${action} of ${asked} consecutive ${memory.element} of ${memory.name}`,
      became + why,
      parts > 1,
    );
  }

  /** `count` elements of an array of vectors, from the one that holds the scalar at `index` on. */
  #vectors(memory: Memory, index: Operand, count: number): Expression[] {
    const width = this.#width(memory);
    const first =
      typeof index.constant === "number"
        ? simple(`${index.constant / width}u`)
        : infix(">>", index, simple(width === 4 ? "2u" : "1u"));
    if (count === 1) return [this.element(memory, first)];
    const base = this.bind(first, index.type, "offset");
    return Array.from({ length: count }, (_, k) => this.#at(memory, base, index.type, k));
  }

  #at(memory: Memory, base: Expression, type: ScalarType, k: number): Expression {
    const step = simple(`${k}${type === "i32" ? "i" : "u"}`);
    return this.element(memory, k === 0 ? base : infix("+", base, step));
  }

  protected override atomic(node: AtomicNode, index: Operand, operands: readonly Operand[]): Expression {
    return atomicCall(node, this.element(node.memory, index), operands, {
      isUsed: node.result !== null && this.isUsed(node.result),
      helper: (name) => this.helper(name),
      note: (request, became) => this.note(request, became, true),
    });
  }

  protected override barrier(): void {
    if (this.#hasReadWrite) this.line("storageBarrier();");
    this.line("workgroupBarrier();");
  }

  protected override subgroupBarrier(node: BarrierNode): void {
    this.#checkBarrier(node);
    this.note("subgroup barrier", "workgroupBarrier()", true);
    this.barrier();
  }

  protected override uniformLoad(node: UniformLoadNode, index: Operand): Expression {
    if (this.#hasReadWrite) this.line("storageBarrier();");
    if (this.#packed.has(node.memory)) return this.#packed.uniformLoad(node.memory, index);
    return call("workgroupUniformLoad", simple(`&${this.element(node.memory, index).text}`));
  }

  protected override forHeader(
    node: ForNode,
    name: string,
    from: Expression,
    to: Expression,
    step: Operand,
  ): string {
    const test = infix(node.direction === "up" ? "<" : ">", simple(name), to).text;
    return `for (var ${name} = ${from.text}; ${test}; ${name} += ${step.text})`;
  }

  protected override subgroup(node: SubgroupNode, operands: readonly Operand[]): readonly Expression[] {
    const expression = subgroupCall(node.op, operands, {
      isExact: this.options.subgroupSums !== "builtin",
      helper: (name) => this.helper(name),
      lane: () => {
        this.usedBuiltins.add("lane");
        return simple("lane");
      },
    });
    if (node.op !== "ballot") return [expression];
    const votes = this.names.take("votes");
    this.line(`let ${votes} = ${expression.text};`);
    return node.results.map((_, k) => simple(`${votes}.${"xyzw"[k]}`));
  }
}
