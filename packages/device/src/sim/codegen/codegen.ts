/**
 * Turns the IR of a kernel into the source of a generator function that runs ONE subgroup in lockstep, and of the
 * functions it calls. The generator stops (`yield`) at barriers, before atomic operations and after many loop
 * iterations; the scheduler decides who goes on. How to read the result stands at its top (prelude.ts).
 */

import { ops } from "@evolver/kernel";
import type { KernelIR, Memory, Node, NodeKind, Value, Variable } from "@evolver/kernel";
import { builtins } from "../analysis/builtins.ts";
import type { RegisterCounts } from "../runtime/subgroup.ts";
import { LimitWriter } from "./limits.ts";
import { ControlFlow } from "./control.ts";
import { Emitter, divisorOf } from "./emitter.ts";
import type { BlockWriter, CodeOptions, ObservedBlock, Scope } from "./scopes.ts";
import { operation } from "./expression.ts";
import type { LaneNode } from "./lane-loops.ts";
import { Pipelines } from "./pipelines.ts";
import { laneFunctions, memoryFunctions, prelude } from "./prelude.ts";
import { Requests } from "./requests.ts";
import { ShadowWriter } from "./shadows.ts";
import { indent } from "./text.ts";

export interface GeneratedCode {
  /** The body of a function of `environment` that returns `bind` and `run`. */
  readonly source: string;
  readonly registers: RegisterCounts;
  /** The node of each site number. */
  readonly sites: readonly Node[];
  /** The number of each memory is its position here. */
  readonly memories: readonly Memory[];
  /** What is observed to run, where that was asked for. */
  readonly blocks: readonly ObservedBlock[];
}

export function generate(ir: KernelIR, options: CodeOptions): GeneratedCode {
  const emitter = new Emitter(ir, options);
  const shadows = options.origins.size > 0 ? new ShadowWriter(emitter, ir, options.origins) : null;
  const writer = new Writer(emitter, shadows);
  writer.block(ir.body.nodes, { active: "all", label: "body", loop: null, owned: [], variables: [] });
  const { memories } = emitter;
  const [sizeX, sizeY, sizeZ] = ir.workgroupSize;
  const run = `function* run(subgroup, launch) {
    const firstX = launch.workgroupX * ${sizeX}, firstY = launch.workgroupY * ${sizeY}, firstZ = launch.workgroupZ * ${sizeZ};
    const { all, laneSets } = subgroup;
    let budget = launch.quantum;
    body: {
      ${emitter.statements}
    }
  }`;
  const bind = `// At the start of a launch.
  function bind(launch) {
    ({ runtime } = launch);
    ({ races, findings, copyFindings, copies, phases, order, weak, shadows, reach, traces } = runtime);
    ${memories.map(({ name, number }) => `${name} = launch.memories[${number}];`).join("\n")}
  }`;
  const declared = memories.map(({ name, memory }) => `let ${name}; // ${memory.element}`);
  const parts = [
    prelude(ir.name, ir.subgroupSize),
    laneFunctions,
    memoryFunctions,
    ["// Memories: records with the data, counts and last accesses (runtime/storage.ts).", ...declared].join(
      "\n",
    ),
    ...emitter.functions,
    emitter.places.join("\n"),
    bind,
    run,
    "return { bind, run };",
  ];
  return {
    source: `${parts.map(indent).join("\n\n")}\n`,
    registers: { ...emitter.registerCounts, shadows: shadows?.count ?? 0 },
    sites: emitter.sites,
    blocks: emitter.blocks,
    memories: memories.map(({ memory }) => memory),
  };
}

/** How a kind of node is written. */
type Handler<K extends NodeKind> = (
  node: Extract<Node, { readonly kind: K }>,
  scope: Scope,
  index: number,
) => void;

/**
 * Kinds whose nodes may join a loop over lanes, and those that end it because the whole subgroup acts. Constants, parameters and
 * comments leave it alone.
 */
const ENDS_LANE_LOOP: { readonly [K in NodeKind]: boolean } = {
  ...{ const: false, param: false, comment: false },
  ...{ builtin: false, op: false, var: false, varGet: false, varSet: false },
  ...{ load: true, store: true, atomic: true, uniformLoad: true, barrier: true, subgroup: true },
  ...{ asyncCopy: true, commitCopies: true, awaitCopies: true, arrive: true, awaitPhase: true, trace: true },
  ...{ if: true, for: true, while: true, roles: true, break: true, continue: true },
};

class Writer implements BlockWriter {
  readonly #emitter: Emitter;
  readonly #limits: LimitWriter;
  readonly #shadows: ShadowWriter | null;
  readonly #handlers: { readonly [K in NodeKind]: Handler<K> };

  constructor(emitter: Emitter, shadows: ShadowWriter | null) {
    const control = new ControlFlow(emitter, this, shadows);
    const requests = new Requests(emitter, shadows);
    const pipelines = new Pipelines(emitter);
    this.#emitter = emitter;
    this.#limits = new LimitWriter(emitter);
    this.#shadows = shadows;
    this.#handlers = {
      comment: ({ text }) => {
        if (emitter.options.comments) emitter.emit(`// ${text.replaceAll("\n", " ")}`);
      },
      const: ({ result, value }) => emitter.setLiteral(result, value),
      param: ({ result, name }) => {
        emitter.nameValue(result, name);
        this.#define(result, `launch.scalars[${JSON.stringify(name)}]`);
      },
      builtin: (node, scope, index) => {
        emitter.nameValue(node.result, node.builtin);
        if (emitter.lanes.uniform[node.result.id]) this.#define(node.result, builtins[node.builtin].shared);
        else emitter.hold(node, scope, index);
      },
      op: (node, scope, index) => {
        emitter.tally.add(node);
        emitter.nameValue(node.result, ops[node.op].noun);
        if (emitter.options.checks && ops[node.op].divides === true) this.#checkDivisor(node, scope, index);
        if (!emitter.lanes.uniform[node.result.id]) return emitter.hold(node, scope, index);
        const operands = node.operands.map((operand) => emitter.uniform(operand) as string);
        this.#statement(node, operation(emitter.valueName(node.result), node, operands));
      },
      var: (node, scope, index) => {
        emitter.declareVariable(node.variable, scope);
        control.trackInitialisation(node, scope);
        if (!this.#isShared(node.variable)) return emitter.hold(node, scope, index);
        const init = node.init === null ? "0" : emitter.uniform(node.init);
        this.#statement(node, `let ${emitter.variableName(node.variable)} = ${init};`);
      },
      varGet: (node, scope, index) => {
        emitter.nameValue(node.result, node.variable.name);
        control.trackInitialisation(node, scope);
        if (this.#isShared(node.variable)) this.#define(node.result, emitter.variableName(node.variable));
        else emitter.hold(node, scope, index);
      },
      varSet: (node, scope, index) => {
        control.trackInitialisation(node, scope);
        if (!this.#isShared(node.variable)) return emitter.hold(node, scope, index);
        this.#statement(node, `${emitter.variableName(node.variable)} = ${emitter.uniform(node.value)};`);
      },
      load: (node, scope) => requests.load(node, scope),
      store: (node, scope) => requests.store(node, scope),
      atomic: (node, scope) => requests.atomic(node, scope),
      uniformLoad: (node, scope) => requests.uniformLoad(node, scope),
      barrier: (node, scope) => requests.barrier(node, scope),
      subgroup: (node, scope) => requests.subgroup(node, scope),
      asyncCopy: (node, scope) => pipelines.copy(node, scope),
      commitCopies: (node, scope) => pipelines.commit(node, scope),
      awaitCopies: (node, scope) => pipelines.awaitCopies(node, scope),
      arrive: (node, scope) => pipelines.arrive(node, scope),
      awaitPhase: (node, scope) => pipelines.awaitPhase(node, scope),
      trace: (node, scope) => requests.trace(node, scope),
      if: (node, scope) => control.if(node, scope),
      for: (node, scope) => control.for(node, scope),
      while: (node, scope) => control.while(node, scope),
      roles: (node, scope) => control.roles(node, scope),
      break: (node, scope) => control.exit(node, scope),
      continue: (node, scope) => control.exit(node, scope),
    };
  }

  block(nodes: readonly Node[], scope: Scope, first = 0): number {
    let index = first;
    for (const node of nodes) this.#node(node, scope, index++);
    this.#emitter.flush(scope, index - 1);
    return index;
  }

  close(scope: Scope): void {
    this.#emitter.closeScope(scope);
  }

  #node<K extends NodeKind>(
    node: Extract<Node, { readonly kind: K }> & { readonly kind: K },
    scope: Scope,
    index: number,
  ): void {
    const emitter = this.#emitter;
    const ends = ENDS_LANE_LOOP[node.kind];
    if (ends) {
      emitter.flush(scope, index - 1);
      emitter.comment(node);
    }
    this.#limits.check(node, scope);
    this.#shadows?.before(node, scope, index);
    this.#handlers[node.kind](node, scope, index);
    this.#shadows?.after(node, scope);
    if (ends) emitter.freeDead(scope, index);
  }

  #isShared(variable: Variable): boolean {
    return this.#emitter.lanes.uniformVariable[variable.id] === true;
  }

  #statement(node: Node, code: string): void {
    this.#emitter.comment(node);
    this.#emitter.emit(code);
  }

  #define(value: Value, expression: string): void {
    this.#emitter.emit(`const ${this.#emitter.valueName(value)} = ${expression};`);
  }

  #checkDivisor(node: Extract<LaneNode, { kind: "op" }>, scope: Scope, index: number): void {
    const emitter = this.#emitter;
    const divisor = divisorOf(node);
    const uniform = emitter.uniform(divisor);
    if (emitter.isConstant(divisor) && uniform !== "0") return;
    const report = (divisors: string): string => `{
      time.instruction++;
      findings.divisionByZero(subgroup, ${scope.active}, ${emitter.site(node)}, ${divisors});
    }`;
    if (uniform !== null) return emitter.emit(`if (${uniform} === 0) ${report("null")}`);
    emitter.flush(scope, index - 1);
    const { file, at } = emitter.registers(divisor, scope);
    emitter.emit(
      `if (anyZero(subgroup.${file}, ${at}, ${scope.active})) ${report(`subgroup.${file}.subarray(${at})`)}`,
    );
  }
}
