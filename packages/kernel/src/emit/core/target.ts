/**
 * What a target has to say (abstract here, one file a target) and what it may use while saying it. The walk over the
 * kernel that asks for all this is base.ts's.
 */

import { EvolverError } from "@evolver/base";
import type { BuiltinName } from "../../ir/builtins.ts";
import type {
  ArriveNode,
  AsyncCopyNode,
  AtomicNode,
  AwaitCopiesNode,
  AwaitPhaseNode,
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
import type { Site } from "../../ir/site.ts";
import type { Memory, PhaseBarrier, ScalarType, Value, Variable } from "../../ir/types.ts";
import { parenthesised, simple, type Expression, type Operand } from "./expression.ts";
import { Lines } from "./lines.ts";
import { Names } from "./names.ts";
import { LoweringLog, type EmitOptions } from "./result.ts";
import type { HelperTable, OpTable } from "./rows.ts";
import { countUses, type Uses } from "./uses.ts";

export abstract class Target {
  protected readonly ir: KernelIR;
  protected readonly options: EmitOptions;
  protected readonly log = new LoweringLog();
  protected readonly names: Names;
  protected readonly helpers = new Set<string>();
  protected readonly usedBuiltins = new Set<BuiltinName>();
  protected readonly uses: Uses;
  /** Where statements go now, and the TypeScript that they come from. */
  protected out = new Lines(1);
  protected site: Site;
  readonly #memories = new Map<Memory | PhaseBarrier, string>();
  readonly #scalars = new Map<string, string>();

  /** @param taken names, beside those of the helpers, that the kernel's own must not hide */
  constructor(ir: KernelIR, options: EmitOptions, helperTable: HelperTable, taken: readonly string[] = []) {
    this.ir = ir;
    this.options = options;
    this.site = ir.site;
    this.uses = countUses(ir);
    this.names = new Names([...Object.keys(helperTable), ...taken]);
    for (const param of ir.params) {
      const name = this.names.take(param.name);
      if (param.kind === "scalar") this.#scalars.set(param.name, name);
      else this.#memories.set(param.memory, name);
    }
    for (const memory of [...ir.shared, ...ir.phaseBarriers])
      this.#memories.set(memory, this.names.take(memory.name));
  }

  // What a target says.

  protected abstract readonly rows: OpTable;
  protected abstract literal(type: ScalarType, value: number | boolean): Expression;
  /** The scalar parameter, given the name that the emitter chose for it. */
  protected abstract parameter(name: string): Expression;
  protected abstract builtin(builtin: BuiltinName): Expression;
  protected abstract declareValue(name: string, type: ScalarType, text: string): string;
  protected abstract declareVariable(name: string, type: Variable["type"], text: string | null): string;
  /** One element of memory, to read or to assign. */
  protected abstract element(memory: Memory, index: Expression): Expression;
  /** The value of one element. */
  protected loadElement(memory: Memory, index: Operand): Expression {
    return this.element(memory, index);
  }
  protected storeElement(memory: Memory, index: Operand, value: Operand): void {
    this.line(`${this.element(memory, index).text} = ${value.text};`);
  }
  /** A load of 2, 4 or 8 elements: the expression of each, after whatever statements it needs. */
  protected abstract wideLoad(node: LoadNode, index: Operand): readonly Expression[];
  protected abstract wideStore(node: StoreNode, index: Operand, values: readonly Operand[]): void;
  /** The expression of an atomic operation's old value, or of the operation alone for a store. */
  protected abstract atomic(node: AtomicNode, index: Operand, operands: readonly Operand[]): Expression;
  /** The expression of each result; a subgroup operation is always a statement of its own. */
  protected abstract subgroup(node: SubgroupNode, operands: readonly Operand[]): readonly Expression[];
  protected abstract barrier(): void;
  protected abstract subgroupBarrier(node: BarrierNode): void;
  /** Starts a copy, or, where the target has none such, copies at once. */
  protected asyncCopy(node: AsyncCopyNode, to: Operand, from: Operand, active: Operand | null): void {
    this.note(copyRequest(node), "plain copy", true);
    if (active === null) return this.#copy(node, to, from);
    if (this.choose !== null) return this.#copyChosen(node, to, from, active);
    const target = { ...to, ...this.bind(to, to.type, "offset") };
    this.line(`if ${parenthesised(active)} {`);
    this.#nested(() => this.#copy(node, target, from));
    this.line("} else {");
    this.#nested(() =>
      this.#store(
        node,
        target,
        Array.from({ length: node.width }, () => this.#zero(node)),
      ),
    );
    this.line("}");
  }
  /** What copies at once has nothing to end or to wait for. */
  protected commitCopies(): void {}
  protected awaitCopies(_node: AwaitCopiesNode): void {}
  protected arrive(node: ArriveNode, _index: Operand): void {
    throw this.#cannotWait(node);
  }
  protected awaitPhase(node: AwaitPhaseNode, _index: Operand, _parity: Operand): void {
    throw this.#cannotWait(node);
  }
  protected abstract uniformLoad(node: UniformLoadNode, index: Operand): Expression;
  protected abstract forHeader(
    node: ForNode,
    name: string,
    from: Expression,
    to: Expression,
    step: Operand,
  ): string;
  /** One of two values without a branch; null where a branch is as good. */
  protected readonly choose:
    | ((condition: Expression, value: Expression, otherwise: Expression) => Expression)
    | null = null;
  /** How an endless loop begins. */
  protected readonly forever: string = "while (true) {";
  protected readonly equals: string = "==";
  /** The operands of arithmetic as the target can take them. */
  protected prepare(_node: Node & { kind: "op" }, operands: readonly Operand[]): readonly Operand[] {
    return operands;
  }
  protected beforeLoop(_node: ForNode | WhileNode): void {}
  protected beginCondition(_node: WhileNode): void {}
  protected beginLoopBody(_node: ForNode | WhileNode): void {}
  protected endLoopBody(_node: ForNode | WhileNode): void {}
  protected afterControl(_node: Node): void {}

  // What a target may use.

  protected memoryName(memory: Memory | PhaseBarrier): string {
    return this.#memories.get(memory) as string;
  }

  protected scalarName(param: string): string {
    return this.#scalars.get(param) as string;
  }

  protected helper(name: string): string {
    this.helpers.add(name);
    return name;
  }

  protected line(text: string): void {
    this.out.add(text, this.site);
  }

  protected note(request: string, became: string, fallback: boolean): void {
    this.log.add(request, became, this.site.location, fallback);
  }

  /** A name for an expression, declared here, unless it is a name or a literal already. */
  protected bind(expression: Expression, type: ScalarType, hint: string): Expression {
    if (expression.simple === true) return expression;
    const name = this.names.take(hint);
    this.line(this.declareValue(name, type, expression.text));
    return simple(name);
  }

  protected isUsed(value: Value): boolean {
    return this.uses.count(value) > 0;
  }

  #nested(inside: () => void): void {
    this.out.depth++;
    this.names.open();
    inside();
    this.names.close();
    this.out.depth--;
  }

  /** A copy that may be of nothing, without a branch: what is read then, the first element, is not used. */
  #copyChosen(node: AsyncCopyNode, to: Operand, from: Operand, active: Operand): void {
    const choose = this.choose as NonNullable<typeof this.choose>;
    const condition = this.bind(active, "bool", "condition");
    const source = this.bind(choose(condition, from, this.literal("u32", 0)), "u32", "source");
    this.#copy(node, to, { ...from, ...source }, (part) => choose(condition, part, this.#zero(node)));
  }

  /** A copy as a load and a store of the same width. */
  #copy(
    node: AsyncCopyNode,
    to: Operand,
    from: Operand,
    change: (part: Expression) => Expression = (part) => part,
  ): void {
    const { from: memory, fromIndex: index, site, width } = node;
    const results = Array.from({ length: width }, () => ({ id: -1, type: memory.element }));
    const parts =
      width === 1
        ? [this.loadElement(memory, from)]
        : this.wideLoad({ kind: "load", memory, index, results, site }, from);
    this.#store(node, to, parts.map(change));
  }

  #store(node: AsyncCopyNode, to: Operand, parts: readonly Expression[]): void {
    const { to: memory, toIndex: index, site } = node;
    const values = parts.map((part) => ({ ...part, type: memory.element, constant: null }));
    if (values.length === 1) return this.storeElement(memory, to, values[0] as Operand);
    this.wideStore({ kind: "store", memory, index, values: [], site }, to, values);
  }

  #zero({ to }: AsyncCopyNode): Expression {
    return this.literal(to.element, 0);
  }

  #cannotWait(node: Node): EvolverError {
    const { name } = this.ir;
    return new EvolverError(
      "FORWARD_PROGRESS_UNAVAILABLE",
      `kernel "${name}" has phase barriers, and subgroups on this target cannot wait for each other`,
      { where: [node.site.location], hint: "build it with { forwardProgress: false }" },
    );
  }
}

/** What a copy asks for, in the lowering report. */
export const copyRequest = ({ from, to, width }: AsyncCopyNode): string =>
  `asynchronous copy of ${width} consecutive ${from.element} of ${from.name} to ${to.name}`;
