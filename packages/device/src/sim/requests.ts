/**
 * The nodes at which a subgroup acts as one, as generated code: requests to memory, atomic operations, barriers and
 * subgroup operations.
 */

import type {
  AtomicNode,
  LoadNode,
  Memory,
  Node,
  StoreNode,
  SubgroupNode,
  UniformLoadNode,
  Value,
} from "@evolver/kernel";
import type { Codegen, Scope } from "./codegen.ts";
import { VIEWS, atomicFunction, loadFunction, storeFunction, uniformLoadFunction } from "./memory.ts";
import { AT_ATOMIC, AT_BARRIER, PREEMPTED } from "./subgroup.ts";

export type RequestNode = Extract<
  Node,
  { kind: "load" | "store" | "atomic" | "barrier" | "uniformLoad" | "subgroup" }
>;

export class Requests {
  readonly #code: Codegen;

  constructor(code: Codegen) {
    this.#code = code;
  }

  node(node: RequestNode, scope: Scope): void {
    switch (node.kind) {
      case "load":
        this.#preemption();
        return this.#load(node.memory, node.index, node.results, node, scope);
      case "store":
        this.#preemption();
        return this.#store(node, scope);
      case "atomic":
        return this.#atomic(node, scope);
      case "barrier":
        return node.scope === "subgroup" ? this.#fence(node, scope) : this.#barrier(node, scope);
      case "uniformLoad":
        return this.#uniformLoad(node, scope);
      case "subgroup":
        return this.#subgroup(node, scope);
    }
  }

  #load(
    memory: Memory,
    at: Value,
    results: readonly Value[],
    node: LoadNode | UniformLoadNode,
    scope: Scope,
  ): void {
    const code = this.#code;
    const k = code.memory(memory);
    const w = results.length;
    const tail = `${scope.mask},${scope.count},${code.site(node)})`;
    code.emit(code.count("issuedMemory"));
    const index = code.uniform(at);
    if (index !== null) {
      const name = `loadUniform_${k}_${w}`;
      code.define(name, () => uniformLoadFunction(name, k, memory, w, code.options));
      const rest = results.slice(1).map(({ id }, j) => `,v${id}=q${j + 1}`);
      code.emit(`const v${results[0]?.id}=${name}(S,${index},${tail}${rest.join("")};`);
      return;
    }
    const view = VIEWS[at.type];
    const name = `load_${k}_${w}_${view}`;
    code.define(name, () => loadFunction(name, k, memory, view, w, code.options));
    const targets = results.map((result) => code.registers(result, scope)).join(",");
    code.emit(`${name}(S,${code.registers(at, scope)},${targets},${tail};`);
  }

  #store(node: StoreNode, scope: Scope): void {
    const code = this.#code;
    const k = code.memory(node.memory);
    const w = node.values.length;
    const view = VIEWS[node.index.type];
    const name = `store_${k}_${w}_${view}`;
    code.define(name, () => storeFunction(name, k, node.memory, view, w, code.options));
    code.emit(code.count("issuedMemory"));
    const temporary: (() => void)[] = [];
    const offset = code.spread(node.index, temporary);
    const sources = node.values.map((value) => code.spread(value, temporary)).join(",");
    code.emit(`${name}(S,${offset},${sources},${scope.mask},${scope.count},${code.site(node)});`);
    for (const release of temporary) release();
  }

  #barrier(node: Node, scope: Scope): void {
    const code = this.#code;
    code.emit(
      `S.barrier=${code.site(node)};S.arrived=${scope.count};S.arrivedMask=${scope.mask};yield ${AT_BARRIER};`,
    );
  }

  /** The lanes of a subgroup are together as they are; what is left is to order their accesses. */
  #fence(node: Node, { mask, count }: Scope): void {
    const code = this.#code;
    code.emit(code.count("subgroupBarriers"));
    if (!code.options.checks) return;
    code.emit(`if(${count}!==S.lanes)rt.divergentFence(S,${mask},${code.site(node)},++request);`);
    code.emit(`rt.clocks.fence(S,${mask},now++);`);
  }

  #uniformLoad(node: UniformLoadNode, scope: Scope): void {
    this.#barrier(node, scope);
    this.#load(node.memory, node.index, [node.result], node, scope);
    this.#barrier(node, scope);
  }

  #atomic(node: AtomicNode, scope: Scope): void {
    const code = this.#code;
    const temporary: (() => void)[] = [];
    const k = code.memory(node.memory);
    const site = code.site(node);
    const name = `atomic_${k}_${node.op}_${node.order}_${VIEWS[node.index.type]}_${node.result ? 1 : 0}`;
    code.define(name, () => atomicFunction(name, k, node, code.options));
    code.emit(`S.polling=${site};yield ${AT_ATOMIC};${code.count("issuedMemory")}`);
    const offset = code.spread(node.index, temporary);
    const [a = 0, b = 0] = node.operands.map((operand) => code.spread(operand, temporary));
    const result = node.result ? code.registers(node.result, scope) : 0;
    const turn = code.options.seeded ? "L.turn()" : "0";
    code.emit(`${name}(S,${offset},${a},${b},${result},${scope.mask},${scope.count},${site},${turn});`);
    for (const release of temporary) release();
  }

  #preemption(): void {
    if (this.#code.options.seeded) this.#code.emit(`if(L.preempt())yield ${PREEMPTED};`);
  }

  #subgroup(node: SubgroupNode, scope: Scope): void {
    const code = this.#code;
    const temporary: (() => void)[] = [];
    code.emit(code.count("issuedSubgroup"));
    const [first, second] = node.operands as [Value, Value?];
    const o = code.spread(first, temporary);
    const V = `S.${VIEWS[first.type]}`;
    const M = scope.mask;
    const type = JSON.stringify(first.type);
    const result = node.results[0] as Value;
    const name = `v${result.id}`;
    switch (node.op) {
      case "sum":
      case "min":
      case "max":
        if (code.uniform(result) !== null)
          code.emit(`const ${name}=sg.reduce("${node.op}",${type},${V},${o},${M});`);
        else
          code.emit(`sg.reduceLanes("${node.op}",${type},${V},${o},${code.registers(result, scope)},${M});`);
        break;
      case "any":
      case "all":
      case "broadcastFirst":
        code.emit(`const ${name}=sg.${node.op}(${V},${o},${M});`);
        break;
      case "ballot":
        for (const [word, { id }] of node.results.entries())
          code.emit(`const v${id}=sg.ballot(${V},${o},${M},${word});`);
        break;
      case "inclusiveSum":
      case "exclusiveSum":
        code.emit(
          `sg.scan(${node.op === "inclusiveSum"},${type},${V},${o},${code.registers(result, scope)},${M});`,
        );
        break;
      default: {
        const p = code.spread(second as Value, temporary);
        const target = code.registers(result, scope);
        code.emit(
          `sg.shuffle("${node.op}",${V},${o},S.U,${p},${target},${M},S,${code.site(node)},++request,rt);`,
        );
      }
    }
    for (const release of temporary) release();
  }
}
