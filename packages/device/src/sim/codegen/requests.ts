/**
 * The nodes at which a subgroup acts as one, as generated code: requests to memory, atomic operations, barriers and
 * subgroup operations.
 */

import { assertNever } from "@evolver/base";
import { isFloat, subgroupOps } from "@evolver/kernel";
import type {
  AtomicNode,
  BarrierNode,
  LoadNode,
  Memory,
  StoreNode,
  SubgroupNode,
  TraceNode,
  UniformLoadNode,
  Value,
} from "@evolver/kernel";
import { countDeclaration, loadFunction, storeFunction, uniformLoadFunction } from "./accesses.ts";
import { atomicFunction } from "./atomics.ts";
import { positionName } from "../runtime/counting.ts";
import type { subgroupOperations } from "../runtime/subgroup-operations.ts";
import type { NamedMemory } from "./checks.ts";
import type { Emitter } from "./emitter.ts";
import type { Scope } from "./scopes.ts";
import type { ShadowWriter } from "./shadows.ts";

export class Requests {
  readonly #emitter: Emitter;
  readonly #shadows: ShadowWriter | null;

  constructor(emitter: Emitter, shadows: ShadowWriter | null) {
    this.#emitter = emitter;
    this.#shadows = shadows;
  }

  load(node: LoadNode, scope: Scope): void {
    this.#maybePreempt();
    this.#shadows?.load(node, scope);
    this.#load(node, node.memory, node.results, scope);
  }

  uniformLoad(node: UniformLoadNode, scope: Scope): void {
    this.#workgroupBarrier(node, scope);
    this.#shadows?.load(node, scope);
    this.#load(node, node.memory, [node.result], scope);
    this.#workgroupBarrier(node, scope);
  }

  store(node: StoreNode, scope: Scope): void {
    const emitter = this.#emitter;
    this.#maybePreempt();
    this.#shadows?.store(node, scope);
    emitter.emit(emitter.count("issuedMemory"));
    const target = emitter.memory(node.memory);
    const width = node.values.length;
    const temporary: (() => void)[] = [];
    const { file: indexFile, at: index } = emitter.spread(node.index, temporary);
    const values = node.values.map((value, j) => [`value${j}`, emitter.spread(value, temporary).at] as const);
    const name = `store${width}_${target.name}_by_${indexFile}`;
    this.#declareCounting(target, width);
    emitter.define(name, () => storeFunction(name, { target, width, indexFile }, emitter.options));
    const place = emitter.place(node, { index, ...Object.fromEntries(values) });
    emitter.emit(`${name}(subgroup, ${scope.active}, ${place});`);
    for (const release of temporary) release();
  }

  atomic(node: AtomicNode, scope: Scope): void {
    const emitter = this.#emitter;
    const target = emitter.memory(node.memory);
    emitter.emit(`subgroup.polling = ${emitter.site(node)};`);
    emitter.emit("yield BEFORE_ATOMIC;");
    emitter.emit(emitter.count("issuedMemory"));
    const temporary: (() => void)[] = [];
    const { file, at: index } = emitter.spread(node.index, temporary);
    const [operand0 = 0, operand1 = 0] = node.operands.map(
      (operand) => emitter.spread(operand, temporary).at,
    );
    const result = node.result ? this.#target(node.result, scope) : 0;
    const unused = node.result ? "" : "_unused";
    this.#declareCounting(target, 1);
    const name = `atomic_${node.op}_${node.order}${unused}_${target.name}_by_${file}`;
    emitter.define(name, () => atomicFunction(name, target, node, emitter.options));
    const place = emitter.place(node, { index, operand0, operand1, result });
    const firstLane = emitter.options.seeded ? "launch.firstLane()" : "0";
    emitter.emit(`${name}(subgroup, ${scope.active}, ${place}, ${firstLane});`);
    for (const release of temporary) release();
  }

  /** Shown values are no use of them: an indeterminate one is shown as it is. */
  trace(node: TraceNode, { active }: Scope): void {
    const emitter = this.#emitter;
    const temporary: (() => void)[] = [];
    const shown = node.values.map((value) => {
      const { file, at } = emitter.spread(value, temporary);
      return `[subgroup.${file}, ${at}]`;
    });
    emitter.emit(`traces.add(subgroup, ${active}, ${emitter.site(node)}, [${shown.join(", ")}]);`);
    for (const release of temporary) release();
  }

  barrier(node: BarrierNode, scope: Scope): void {
    switch (node.scope) {
      case "workgroup":
        return this.#workgroupBarrier(node, scope);
      case "subgroup":
        return this.#subgroupBarrier(node, scope);
      default:
        return assertNever(node.scope, "barrier scope");
    }
  }

  subgroup(node: SubgroupNode, scope: Scope): void {
    const emitter = this.#emitter;
    const { op } = node;
    emitter.emit(emitter.count("issuedSubgroup"));
    this.#checkTogether(node, scope);
    this.#countFlops(node, scope);
    const [value, by] = node.operands as [Value, Value?];
    const temporary: (() => void)[] = [];
    const { file, at: operand } = emitter.spread(value, temporary);
    const fields = { op, type: value.type, operand };
    const call = (name: keyof typeof subgroupOperations, place: string, more = ""): string =>
      `subgroupOperations.${name}(subgroup.${file}, ${scope.active}, ${place}${more})`;
    const result = node.results[0] as Value;
    switch (op) {
      case "sum":
      case "min":
      case "max":
        if (emitter.uniform(result) === null) {
          const place = emitter.place(node, { ...fields, by: 0, result: this.#target(result, scope) });
          emitter.emit(`${call("reduceLanes", place)};`);
        } else this.#shared(node, call("reduce", emitter.place(node, { ...fields, by: 0, result: 0 })));
        break;
      case "any":
      case "all":
      case "broadcastFirst":
        this.#shared(node, call(op, emitter.place(node, { ...fields, by: 0, result: 0 })));
        break;
      case "ballot": {
        const place = emitter.place(node, { ...fields, by: 0, result: 0 });
        for (const [word, mask] of node.results.entries()) {
          emitter.nameValue(mask, subgroupOps[op].noun);
          emitter.emit(`const ${emitter.valueName(mask)} = ${call(op, place, `, ${word}`)};`);
        }
        break;
      }
      case "inclusiveSum":
      case "exclusiveSum": {
        const place = emitter.place(node, { ...fields, by: 0, result: this.#target(result, scope) });
        emitter.emit(`${call(op, place)};`);
        break;
      }
      case "broadcast":
      case "shuffle":
      case "shuffleXor":
      case "shuffleUp":
      case "shuffleDown": {
        const { at } = emitter.spread(by as Value, temporary);
        const place = emitter.place(node, { ...fields, by: at, result: this.#target(result, scope) });
        emitter.emit("time.instruction++;");
        emitter.emit(
          `subgroupOperations.shuffle(subgroup.${file}, subgroup, ${scope.active}, ${place}, findings);`,
        );
        break;
      }
      default:
        assertNever(op, "subgroup operation");
    }
    for (const release of temporary) release();
  }

  /** Sums and extremes of floats: a step of the butterfly each time the distance doubles. */
  #countFlops({ op, operands }: SubgroupNode, { active }: Scope): void {
    const emitter = this.#emitter;
    const { type } = operands[0] as Value;
    if (!emitter.options.counters || !isFloat(type)) return;
    const steps = Math.log2(emitter.ir.subgroupSize);
    const flops = `totals[${positionName("flops")}]`;
    if (op === "sum" || op === "min" || op === "max") emitter.emit(`${flops} += ${steps} * ${active}.count;`);
    else if (op === "inclusiveSum" || op === "exclusiveSum")
      emitter.emit(`${flops} += scanSteps(${active});`);
  }

  /** Where the flow is not proved uniform: an operation that combines all lanes of the subgroup wants them all. */
  #checkTogether(node: SubgroupNode, { active }: Scope): void {
    const emitter = this.#emitter;
    const { ir, options } = emitter;
    if (!options.checks || ir.uniformity === "static" || !subgroupOps[node.op].combines) return;
    emitter.emit(`if (${active}.count !== subgroup.lanes) {
      time.instruction++;
      findings.divergentSubgroupOperation(subgroup, ${active}, ${emitter.site(node)});
    }`);
  }

  /** A result that all lanes share. */
  #shared({ op, results }: SubgroupNode, expression: string): void {
    const result = results[0] as Value;
    this.#emitter.nameValue(result, subgroupOps[op].noun);
    this.#emitter.emit(`const ${this.#emitter.valueName(result)} = ${expression};`);
  }

  #target(result: Value, scope: Scope): number {
    return this.#emitter.registers(result, scope).at;
  }

  #load(node: LoadNode | UniformLoadNode, memory: Memory, results: readonly Value[], scope: Scope): void {
    const emitter = this.#emitter;
    const { options } = emitter;
    const target = emitter.memory(memory);
    const width = results.length;
    emitter.emit(emitter.count("issuedMemory"));
    const uniform = emitter.uniform(node.index);
    if (uniform !== null) {
      const name = `loadUniform${width}_${target.name}`;
      emitter.define(name, () => uniformLoadFunction(name, target, width, options));
      for (const result of results) emitter.nameValue(result, memory.name);
      const [first, ...rest] = results.map((result) => emitter.valueName(result));
      const others = rest.map((other, j) => `, ${other} = loaded${j + 1}`).join("");
      const place = emitter.place(node, {});
      emitter.emit(`const ${first} = ${name}(subgroup, ${scope.active}, ${place}, ${uniform})${others};`);
      return;
    }
    const { file: indexFile, at: index } = emitter.registers(node.index, scope);
    const name = `load${width}_${target.name}_by_${indexFile}`;
    this.#declareCounting(target, width);
    emitter.define(name, () => loadFunction(name, { target, width, indexFile }, options));
    const targets = results.map((result, j) => [`result${j}`, this.#target(result, scope)] as const);
    for (const result of results) emitter.nameValue(result, memory.name);
    const place = emitter.place(node, { index, ...Object.fromEntries(targets) });
    emitter.emit(`${name}(subgroup, ${scope.active}, ${place});`);
  }

  #declareCounting(target: NamedMemory, width: number): void {
    const shape = countDeclaration(target, width);
    if (shape !== null) this.#emitter.define(shape.name, () => shape.declaration);
  }

  #workgroupBarrier(node: BarrierNode | UniformLoadNode, { active }: Scope): void {
    this.#emitter.emit(`subgroup.waitsAt = ${this.#emitter.site(node)};
      subgroup.arrived = ${active};
      yield AT_BARRIER;`);
  }

  /** The lanes of a subgroup are together as they are; what is left is to order their accesses. */
  #subgroupBarrier(node: BarrierNode, { active }: Scope): void {
    const emitter = this.#emitter;
    emitter.emit(emitter.count("subgroupBarriers"));
    if (!emitter.options.checks) return;
    emitter.emit(`if (${active}.count !== subgroup.lanes) {
      time.instruction++;
      findings.divergentSubgroupBarrier(subgroup, ${active}, ${emitter.site(node)});
    }
    order.subgroupBarrier(subgroup, ${active}, time.now++);
    subgroup.freshSince = time.instruction;`);
  }

  #maybePreempt(): void {
    if (this.#emitter.options.seeded) this.#emitter.emit("if (launch.preempt()) yield PREEMPTED;");
  }
}
