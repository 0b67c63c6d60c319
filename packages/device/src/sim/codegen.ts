/**
 * Turns the IR of a kernel into the source of a generator function that runs ONE subgroup in lockstep, and of the
 * functions it calls. The generator stops (`yield`) at barriers, before atomic operations and after many loop
 * iterations; the scheduler decides who goes on.
 *
 * In the generated code `S` is the subgroup, `L` the launch, `M…` masks of active lanes (one byte a lane), `n…` their
 * numbers (never 0 where code runs), `v…` lane-invariant values and `C` the counters.
 */

import { blocksOf } from "@evolver/kernel";
import type { Block, KernelIR, Memory, Node, OpNode, Value, Variable } from "@evolver/kernel";
import { ControlFlow, maskPrelude } from "./control.ts";
import { total } from "./counting.ts";
import { divides, literal, operation } from "./expression.ts";
import { analyseLanes } from "./lanes.ts";
import type { LaneAnalysis } from "./lanes.ts";
import { VIEWS, memoryPrelude, memoryVariables } from "./memory.ts";
import type { CheckOptions } from "./checks.ts";
import { Pipelines } from "./pipelines.ts";
import { Requests } from "./requests.ts";
import { Slots, findUses } from "./registers.ts";
import type { Uses } from "./registers.ts";
import { isLaneNode, segmentFunction } from "./segment.ts";
import type { LaneNode } from "./segment.ts";
import type { RegisterCounts } from "./subgroup.ts";
import { Tally } from "./tally.ts";

export interface CodeOptions extends CheckOptions {
  readonly checks: boolean;
  /** Whether to offer a stop before every memory access. */
  readonly seeded: boolean;
}

export interface GeneratedCode {
  readonly source: string;
  readonly registers: RegisterCounts;
  /** The node of each site number. */
  readonly sites: readonly Node[];
  /** The number of each memory is its position here. */
  readonly memories: readonly Memory[];
}

/** Engines do not optimise very long functions. */
const MAX_SEGMENT_NODES = 200;

/** Where code is being written: the active lanes, and the registers to free at the end. */
export interface Scope {
  readonly mask: string;
  readonly count: string;
  /** A label around the scope's statements: leaving it ends them. */
  readonly label: string;
  readonly loop: LoopScope | null;
  readonly owned: Value[];
  /** Slots of its variables. */
  readonly variables: number[];
}

export interface LoopScope {
  /** The label of the loop, and of its body. */
  readonly leave: string;
  readonly next: string;
  /** Masks of lanes still in the loop and in this iteration; null where lanes stay together. */
  readonly staying: string | null;
  readonly current: string | null;
}

export class Codegen {
  readonly ir: KernelIR;
  readonly options: CodeOptions;
  readonly lanes: LaneAnalysis;
  readonly lines: string[] = [];
  readonly #uses: Uses;
  readonly #functions = new Map<string, string>();
  readonly #memories: Memory[];
  readonly #sites: Node[] = [];
  readonly #words = new Slots();
  readonly #doubles = new Slots();
  readonly #slotOf = new Map<number, number>();
  readonly #variableSlot = new Map<number, number>();
  readonly #literals = new Map<number, string>();
  readonly #control: ControlFlow;
  readonly #requests: Requests;
  readonly #pipelines: Pipelines;
  #pending: LaneNode[] = [];
  readonly #tally = new Tally();
  #names = 0;
  #masks = 0;

  constructor(ir: KernelIR, options: CodeOptions) {
    this.ir = ir;
    this.options = options;
    this.lanes = analyseLanes(ir);
    this.#uses = findUses(ir);
    this.#memories = [
      ...ir.params.flatMap((param) => (param.kind === "buffer" ? [param.memory] : [])),
      ...ir.shared,
    ];
    this.#control = new ControlFlow(this);
    this.#requests = new Requests(this);
    this.#pipelines = new Pipelines(this);
    if (options.checks) this.#keepDivisors(ir.body);
  }

  generate(): GeneratedCode {
    this.block(this.ir.body.nodes, {
      mask: "M",
      count: "n",
      label: "all",
      loop: null,
      owned: [],
      variables: [],
    });
    const [sizeX, sizeY, sizeZ] = this.ir.workgroupSize;
    const variables = this.#memories.map((_, k) => memoryVariables(k));
    const source = `"use strict";${memoryPrelude(this.ir.subgroupSize)}${maskPrelude}
const fround=Math.fround;let rt=null;
${variables.map((v) => v.declare).join("\n")}
${[...this.#functions.values()].join("\n")}
function bind(runtime,start,bindings){rt=runtime;launch=start;let b;${variables
      .map((v, k) => `b=bindings[${k}];${v.bind}`)
      .join("")}}
function setTime(t){now=t}
function getTime(){return now}
function barrier(){meet=++now}
function beginWorkgroup(){group=meet=++now;return group}
function getChanges(){return changes}
function exchangeSerial(s){const old=serial;serial=s;return old}
function*run(S,L){
const first_x=L.x*${sizeX},first_y=L.y*${sizeY},first_z=L.z*${sizeZ};
const M=S.mask,n=S.lanes,masks=S.masks;let budget=L.quantum;
all:{${this.lines.join("\n")}}
}
return {run,bind,setTime,getTime,barrier,beginWorkgroup,getChanges,exchangeSerial};`;
    return {
      source,
      registers: {
        width: this.ir.subgroupSize,
        words: this.#words.count,
        doubles: this.#doubles.count,
        masks: this.#masks,
      },
      sites: this.#sites,
      memories: this.#memories,
    };
  }

  // What control.ts and requests.ts use.

  emit(line: string): void {
    this.lines.push(line);
  }

  /** A name that nothing else has. */
  name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  /** An expression for a mask of this subgroup's own. */
  newMask(): string {
    const name = this.name("M");
    this.emit(`const ${name}=masks[${this.#masks++}];`);
    return name;
  }

  site(node: Node): number {
    this.#sites.push(node);
    return this.#sites.length - 1;
  }

  define(name: string, declaration: () => string): string {
    if (!this.#functions.has(name)) this.#functions.set(name, declaration());
    return name;
  }

  count(name: Parameters<typeof total>[0], amount = "1"): string {
    return this.options.counters ? `C[${total(name)}]+=${amount};` : "";
  }

  /** The expression of a lane-invariant value, or null. */
  uniform(value: Value): string | null {
    if (!this.lanes.uniform[value.id]) return null;
    return this.#literals.get(value.id) ?? `v${value.id}`;
  }

  isConstant(value: Value): boolean {
    return this.#literals.has(value.id);
  }

  /** The offset of a varying value's registers, which the scope frees. */
  registers(value: Value, scope: Scope): number {
    let slot = this.#slotOf.get(value.id);
    if (slot === undefined) {
      slot = this.#slotsFor(value).take();
      this.#slotOf.set(value.id, slot);
      scope.owned.push(value);
    }
    return slot * this.ir.subgroupSize;
  }

  /** Registers that the value keeps until its scope ends. */
  keptRegisters(value: Value, scope: Scope): number {
    this.#uses.last[value.id] = Infinity;
    return this.registers(value, scope);
  }

  /** Gives a variable that is declared without a value a defined one. */
  zeroVariable({ id, type }: Variable): void {
    const slot = this.#variableSlot.get(id);
    const width = this.ir.subgroupSize;
    if (slot !== undefined) this.emit(`S.${VIEWS[type]}.fill(0,${slot * width},${(slot + 1) * width});`);
  }

  /** The offset of a value's registers, lane-invariant or not; `temporary` ones end with the node. */
  spread(value: Value, temporary: (() => void)[]): number {
    const uniform = this.uniform(value);
    const width = this.ir.subgroupSize;
    if (uniform === null) return (this.#slotOf.get(value.id) as number) * width;
    const slots = this.#slotsFor(value);
    const slot = slots.take();
    temporary.push(() => slots.release(slot));
    this.emit(`S.${VIEWS[value.type]}.fill(${uniform},${slot * width},${(slot + 1) * width});`);
    return slot * width;
  }

  /** Writes what is pending: after this every value has its registers. */
  flush(scope: Scope, upTo: number): void {
    if (this.#pending.length > 0) {
      const nodes = this.#pending;
      this.#pending = [];
      const name = this.name("segment");
      const segment = segmentFunction(name, nodes, scope.mask, {
        uniform: (value) => this.uniform(value),
        registers: (value) => this.registers(value, scope),
        variable: (id) => (this.#variableSlot.get(id) as number) * this.ir.subgroupSize,
        isMasked: (node) => this.lanes.maskedSets.has(node),
        escapes: (value, usesInside) => (this.#uses.count[value.id] as number) > usesInside,
      });
      if (segment !== null) {
        this.#functions.set(name, segment.declaration);
        this.emit(segment.call);
      }
    }
    if (this.options.counters) this.emit(this.#tally.take(scope.count));
    this.#freeDead(scope, upTo);
  }

  /** Writes the nodes of a block; `first` is the index of the first one. */
  block(nodes: readonly Node[], scope: Scope, first = 0): number {
    let index = first;
    for (const node of nodes) this.#node(node, scope, index++);
    this.flush(scope, index - 1);
    return index;
  }

  /** Frees the scope's registers. */
  close(scope: Scope): void {
    this.#freeDead(scope, Infinity);
    for (const slot of scope.variables) this.#words.release(slot);
  }

  #node(node: Node, scope: Scope, index: number): void {
    switch (node.kind) {
      case "comment":
        return;
      case "const":
        this.#literals.set(node.result.id, literal(node.value, node.result.type));
        return;
      case "param":
        this.emit(`const v${node.result.id}=L.scalars[${JSON.stringify(node.name)}];`);
        return;
    }
    if (isLaneNode(node)) return this.#simple(node, scope, index);
    this.flush(scope, index - 1);
    switch (node.kind) {
      case "load":
      case "store":
      case "atomic":
      case "barrier":
      case "uniformLoad":
      case "subgroup":
        this.#requests.node(node, scope);
        break;
      case "asyncCopy":
      case "commitCopies":
      case "awaitCopies":
      case "arrive":
      case "awaitPhase":
        this.#pipelines.node(node, scope);
        break;
      default:
        this.#control.node(node, scope);
    }
    this.#freeDead(scope, index);
  }

  /** Arithmetic and variables: one number where lanes agree, else for the next segment. */
  #simple(node: LaneNode, scope: Scope, index: number): void {
    if (node.kind === "op") {
      this.#tally.add(node);
      if (this.options.checks && divides(node)) this.#checkDivisor(node, scope, index);
    }
    if (node.kind === "var" || node.kind === "varGet" || node.kind === "varSet") {
      if (node.kind === "var") this.#declare(node.variable.id, scope);
      this.#control.trackInitialisation(node, scope);
      if (this.lanes.uniformVariable[node.variable.id]) return this.#uniformVariable(node);
    } else if (this.lanes.uniform[node.result.id]) {
      if (node.kind === "builtin") this.emit(`const v${node.result.id}=${builtinUniform(node.builtin)};`);
      else {
        const operands = node.operands.map((operand) => this.uniform(operand) as string);
        this.emit(operation(`v${node.result.id}`, node, operands));
      }
      return;
    }
    this.#pending.push(node);
    if (this.#pending.length >= MAX_SEGMENT_NODES) this.flush(scope, index);
  }

  #declare(id: number, scope: Scope): void {
    if (this.lanes.uniformVariable[id]) return;
    const slot = this.#words.take();
    this.#variableSlot.set(id, slot);
    scope.variables.push(slot);
  }

  #uniformVariable(node: Extract<LaneNode, { kind: "var" | "varGet" | "varSet" }>): void {
    const name = `w${node.variable.id}`;
    if (node.kind === "var") this.emit(`let ${name}=${node.init ? this.uniform(node.init) : 0};`);
    else if (node.kind === "varGet") this.emit(`const v${node.result.id}=${name};`);
    else this.emit(`${name}=${this.uniform(node.value)};`);
  }

  memory(memory: Memory): number {
    return this.#memories.findIndex((known) => known.space === memory.space && known.name === memory.name);
  }

  #checkDivisor(node: OpNode, scope: Scope, index: number): void {
    const divisor = node.operands[1] as Value;
    if (this.isConstant(divisor) && this.#literals.get(divisor.id) !== "0") return;
    const uniform = this.uniform(divisor);
    const tail = `${scope.mask},${this.site(node)},++request)`;
    if (uniform !== null) return this.emit(`if(${uniform}===0)rt.divisionByZero(S,null,0,${tail};`);
    this.flush(scope, index - 1);
    const offset = this.registers(divisor, scope);
    const view = VIEWS[divisor.type];
    const name = this.define(
      `anyZero_${view}`,
      () =>
        `function anyZero_${view}(V,o,M){for(let l=0;l<W;l++)if(M[l]!==0&&V[o+l]===0)return true;return false}`,
    );
    this.emit(
      `if(${name}(S.${view},${offset},${scope.mask}))rt.divisionByZero(S,S.${view},${offset},${tail};`,
    );
  }

  /** Divisors are looked at before the division, so they need registers. */
  #keepDivisors(block: Block): void {
    for (const node of block.nodes) {
      if (node.kind === "op" && divides(node)) {
        const id = (node.operands[1] as Value).id;
        this.#uses.count[id] = (this.#uses.count[id] as number) + 1;
      }
      for (const inner of blocksOf(node)) this.#keepDivisors(inner);
    }
  }

  #slotsFor(value: Value): Slots {
    return value.type === "index" ? this.#doubles : this.#words;
  }

  #freeDead(scope: Scope, upTo: number): void {
    if (this.#pending.length > 0) return;
    for (let i = scope.owned.length - 1; i >= 0; i--) {
      const value = scope.owned[i] as Value;
      if ((this.#uses.last[value.id] as number) > upTo) continue;
      this.#slotsFor(value).release(this.#slotOf.get(value.id) as number);
      scope.owned.splice(i, 1);
    }
  }
}

function builtinUniform(builtin: string): string {
  if (builtin === "workgroupIndex") return "L.linear";
  if (builtin === "subgroupId") return "S.index";
  const axis = builtin.at(-1) as string;
  if (builtin.startsWith("workgroupId")) return `L.${axis}`;
  if (builtin.startsWith("numWorkgroups")) return `L.count_${axis}`;
  if (builtin.startsWith("localId")) return `S.${axis}[0]`;
  return `((first_${axis}+S.${axis}[0])>>>0)`;
}
