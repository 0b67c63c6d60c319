/**
 * What all writers of a kernel's JavaScript share: the statements so far, the functions they call, names, and where values
 * live. Runs of lane-varying arithmetic are held back until something else comes, and then become one loop (lane-loops.ts).
 */

import type {
  Block,
  IndexLimit,
  KernelIR,
  Memory,
  Node,
  OpNode,
  Site,
  Value,
  Variable,
} from "@evolver/kernel";
import { blocksOf, ops } from "@evolver/kernel";
import { analyseLanes } from "../analysis/lanes.ts";
import type { LaneAnalysis } from "../analysis/lanes.ts";
import { openLimits } from "../analysis/limits.ts";
import { Slots, findUses } from "../analysis/registers.ts";
import type { Uses } from "../analysis/registers.ts";
import { positionName } from "../runtime/counting.ts";
import type { TotalName } from "../runtime/counting.ts";
import { REGISTER_FILE } from "../runtime/subgroup.ts";
import type { RegisterCounts } from "../runtime/subgroup.ts";
import type { NamedMemory } from "./checks.ts";
import { literal } from "./expression.ts";
import { laneLoop } from "./lane-loops.ts";
import type { LaneNode } from "./lane-loops.ts";
import type { CodeOptions, ObservedBlock, Registers, Scope } from "./scopes.ts";
import { Tally } from "./tally.ts";
import { Names, identifier, sourceLine } from "./text.ts";

/** Engines do not optimise very long functions. */
const MAX_LOOP_NODES = 200;

export class Emitter {
  readonly ir: KernelIR;
  readonly options: CodeOptions;
  readonly lanes: LaneAnalysis;
  /** What accesses have to be checked for beside the size of the memory. */
  readonly limits: ReadonlyMap<Node, readonly IndexLimit[]>;
  /** Counts arithmetic, to be added where code continues. */
  readonly tally = new Tally();
  readonly memories: readonly NamedMemory[];
  /** The node of each site number. */
  readonly sites: Node[] = [];
  /** Blocks of branches, loops and roles, in their order. */
  readonly blocks: ObservedBlock[] = [];
  #openBlock = -1;
  readonly #lines: string[] = [];
  readonly #functions = new Map<string, string>();
  readonly #places: string[] = [];
  readonly #uses: Uses;
  readonly #words = new Slots();
  readonly #doubles = new Slots();
  readonly #slotOf = new Map<number, number>();
  readonly #variableSlot = new Map<number, number>();
  readonly #literals = new Map<number, string>();
  readonly #names = new Names();
  readonly #valueNames = new Map<number, string>();
  readonly #variableNames = new Map<number, string>();
  #pending: LaneNode[] = [];
  /** How many names have each prefix. */
  readonly #numbered = new Map<string, number>();
  #laneSets = 0;
  #line = "";

  constructor(ir: KernelIR, options: CodeOptions) {
    this.ir = ir;
    this.options = options;
    this.lanes = analyseLanes(ir);
    this.limits = options.checks ? openLimits(ir) : new Map();
    this.#uses = findUses(ir, (node) =>
      (this.limits.get(node) ?? []).flatMap(({ index, extent }) =>
        [index, extent].filter((of) => typeof of !== "number"),
      ),
    );
    const memories = [
      ...ir.params.flatMap((param) => (param.kind === "buffer" ? [param.memory] : [])),
      ...ir.shared,
    ];
    this.memories = memories.map((memory, number) => {
      const prefix = memory.space === "global" ? "buffer" : "shared";
      return { memory, number, name: this.#names.unique(`${prefix}_${identifier(memory.name)}`) };
    });
    if (options.checks) this.#keepDivisors(ir.body);
    for (const { index, extent } of options.guards) this.#keep([index, extent]);
  }

  /** Writes a block of a branch, loop or role, of which it is noted that it runs. */
  observed(block: Block, write: () => void): void {
    const outer = this.#openBlock;
    if (this.options.observe && block.nodes.length > 0) {
      this.#openBlock = this.blocks.length;
      this.blocks.push({ first: block.nodes[0] as Node, outer });
      this.emit(`ran[${this.#openBlock}] = 1;`);
    }
    write();
    this.#openBlock = outer;
  }

  /** The statements of the generator. */
  get statements(): string {
    return this.#lines.join("\n");
  }

  get functions(): readonly string[] {
    return [...this.#functions.values()];
  }

  get places(): readonly string[] {
    return this.#places;
  }

  get registerCounts(): Omit<RegisterCounts, "shadows"> {
    return {
      width: this.ir.subgroupSize,
      words: this.#words.count,
      doubles: this.#doubles.count,
      laneSets: this.#laneSets,
    };
  }

  emit(code: string): void {
    if (code !== "") this.#lines.push(code);
  }

  /** Says what line of TypeScript the next statements come from. */
  comment({ site }: { readonly site: Site }): void {
    if (!this.options.comments) return;
    const line = sourceLine(site);
    if (line === this.#line) return;
    this.#line = line;
    this.emit(`// ${line}`);
  }

  /** A name that nothing else has. */
  name(prefix: string): string {
    const number = (this.#numbered.get(prefix) ?? 0) + 1;
    this.#numbered.set(prefix, number);
    return this.#names.unique(`${prefix}${number}`);
  }

  /** A set of lanes of this subgroup's own. */
  newLaneSet(prefix: string): string {
    const name = this.name(prefix);
    this.emit(`const ${name} = laneSets[${this.#laneSets++}];`);
    return name;
  }

  /** The number of a place in the kernel. */
  site(node: Node): number {
    this.sites.push(node);
    return this.sites.length - 1;
  }

  /** The record of a place in the kernel, with its site and other constants that its function wants to know. */
  place(node: Node, fields: Readonly<Record<string, number | string | boolean>>): string {
    const site = this.site(node);
    const name = this.#names.unique(`place${site}`);
    const entries = Object.entries({ site, ...fields }).map(
      ([key, value]) => `${key}: ${JSON.stringify(value)}`,
    );
    const line = this.options.comments ? ` // ${sourceLine(node.site)}` : "";
    this.#places.push(`const ${name} = { ${entries.join(", ")} };${line}`);
    return name;
  }

  /** A record beside the places, which code changes before each use. */
  record(prefix: string, fields: string): string {
    const name = this.name(prefix);
    this.#places.push(`const ${name} = ${fields};`);
    return name;
  }

  /** Declares a function, or what belongs to one, if it is not known. */
  define(name: string, declaration: () => string): void {
    if (!this.#functions.has(name)) this.#functions.set(name, declaration());
  }

  count(total: TotalName): string {
    return this.options.counters ? `totals[${positionName(total)}]++;` : "";
  }

  memory(memory: Memory): NamedMemory {
    return this.memories.find(
      ({ memory: known }) => known.space === memory.space && known.name === memory.name,
    ) as NamedMemory;
  }

  // Values

  /** Names a value after where it comes from. */
  nameValue({ id }: Value, hint: string): void {
    this.#valueNames.set(id, this.#names.unique(`${identifier(hint)}_${id}`));
  }

  valueName({ id }: Value): string {
    return this.#valueNames.get(id) ?? `v${id}`;
  }

  /** The name of a variable that all lanes share. */
  variableName({ id, name }: Variable): string {
    let known = this.#variableNames.get(id);
    if (known === undefined)
      this.#variableNames.set(id, (known = this.#names.unique(`$${identifier(name)}`)));
    return known;
  }

  setLiteral(value: Value, constant: number | boolean): void {
    this.#literals.set(value.id, literal(constant, value.type));
  }

  isConstant(value: Value): boolean {
    return this.#literals.has(value.id);
  }

  /** The expression of a lane-invariant value, or null. */
  uniform(value: Value): string | null {
    if (!this.lanes.uniform[value.id]) return null;
    return this.#literals.get(value.id) ?? this.valueName(value);
  }

  /** The registers of a varying value, which the scope frees. */
  registers(value: Value, scope: Scope): Registers {
    let slot = this.#slotOf.get(value.id);
    if (slot === undefined) {
      slot = this.#slotsFor(value).take();
      this.#slotOf.set(value.id, slot);
      scope.owned.push(value);
    }
    return { file: REGISTER_FILE[value.type], at: slot * this.ir.subgroupSize };
  }

  /** Registers that the value keeps until its scope ends. */
  keptRegisters(value: Value, scope: Scope): Registers {
    this.#uses.last[value.id] = Infinity;
    return this.registers(value, scope);
  }

  /** The registers of a value; those that a lane-invariant one is copied to end with the node. */
  spread(value: Value, temporary: (() => void)[]): Registers {
    const file = REGISTER_FILE[value.type];
    const width = this.ir.subgroupSize;
    const uniform = this.uniform(value);
    if (uniform === null) return { file, at: (this.#slotOf.get(value.id) as number) * width };
    const slots = this.#slotsFor(value);
    const slot = slots.take();
    temporary.push(() => slots.release(slot));
    this.emit(`subgroup.${file}.fill(${uniform}, ${slot * width}, ${(slot + 1) * width});`);
    return { file, at: slot * width };
  }

  /** A number for each lane (LaneOperand), as an expression. */
  operand(value: Value | number, scope: Scope): string {
    const uniform = typeof value === "number" ? String(value) : this.uniform(value);
    if (uniform !== null) return `{ registers: null, first: 0, value: ${uniform} }`;
    const { file, at } = this.registers(value as Value, scope);
    return `{ registers: subgroup.${file}, first: ${at}, value: 0 }`;
  }

  /** Takes registers for a variable that differs by lane. */
  declareVariable(variable: Variable, scope: Scope): void {
    if (this.lanes.uniformVariable[variable.id]) return;
    const slot = this.#words.take();
    this.#variableSlot.set(variable.id, slot);
    scope.variables.push(slot);
  }

  variableRegisters({ id, type }: Variable): Registers {
    return {
      file: REGISTER_FILE[type],
      at: (this.#variableSlot.get(id) as number) * this.ir.subgroupSize,
    };
  }

  /** Gives a variable that is declared without a value a defined one. */
  zeroVariable(variable: Variable): void {
    if (!this.#variableSlot.has(variable.id)) return;
    const { file, at } = this.variableRegisters(variable);
    this.emit(`subgroup.${file}.fill(0, ${at}, ${at + this.ir.subgroupSize});`);
  }

  /** Adds arithmetic on lanes to the next loop. */
  hold(node: LaneNode, scope: Scope, index: number): void {
    this.#pending.push(node);
    if (this.#pending.length >= MAX_LOOP_NODES) this.flush(scope, index);
  }

  /** Writes what is held back: after this every value has its registers. */
  flush(scope: Scope, upTo: number): void {
    if (this.#pending.length > 0) {
      const nodes = this.#pending;
      this.#pending = [];
      const name = this.name("laneLoop");
      const loop = laneLoop(name, nodes, scope.active, {
        uniform: (value) => this.uniform(value),
        valueName: (value) => this.valueName(value),
        registers: (value) => this.registers(value, scope),
        variable: (variable) => this.variableRegisters(variable),
        isMasked: (node) => this.lanes.maskedSets.has(node),
        escapes: (value, usesInside) => (this.#uses.count[value.id] as number) > usesInside,
        comments: this.options.comments,
      });
      if (loop !== null) {
        this.#functions.set(name, loop.declaration);
        this.emit(loop.call);
      }
    }
    if (this.options.counters) this.emit(this.tally.take(`${scope.active}.count`));
    this.freeDead(scope, upTo);
  }

  /** Frees registers of values that nothing uses after a node. */
  freeDead(scope: Scope, upTo: number): void {
    if (this.#pending.length > 0) return;
    for (let i = scope.owned.length - 1; i >= 0; i--) {
      const value = scope.owned[i] as Value;
      if ((this.#uses.last[value.id] as number) > upTo) continue;
      this.#slotsFor(value).release(this.#slotOf.get(value.id) as number);
      scope.owned.splice(i, 1);
    }
  }

  closeScope(scope: Scope): void {
    this.freeDead(scope, Infinity);
    for (const slot of scope.variables) this.#words.release(slot);
  }

  /** Values are looked at again after their last use. */
  #keep(values: readonly Value[]): void {
    for (const { id } of values) {
      this.#uses.count[id] = (this.#uses.count[id] as number) + 1;
      this.#uses.last[id] = Infinity;
    }
  }

  /** Divisors are looked at before the division, so they need registers. */
  #keepDivisors(block: Block): void {
    for (const node of block.nodes) {
      if (node.kind === "op" && ops[node.op].divides === true) {
        const { id } = divisorOf(node);
        this.#uses.count[id] = (this.#uses.count[id] as number) + 1;
      }
      for (const inner of blocksOf(node)) this.#keepDivisors(inner);
    }
  }

  #slotsFor(value: Value): Slots {
    return REGISTER_FILE[value.type] === "f64" ? this.#doubles : this.#words;
  }
}

export const divisorOf = (node: OpNode): Value => node.operands[1] as Value;
