/** Asynchronous copies and phase barriers, as generated code. */

import type { ArriveNode, AsyncCopyNode, AwaitPhaseNode, Node, PhaseBarrier, Value } from "@evolver/kernel";
import type { Codegen, Scope } from "./codegen.ts";
import { copyFunction, landingFunction } from "./copies.ts";
import { VIEWS } from "./memory.ts";
import { AT_PHASE, PREEMPTED } from "./subgroup.ts";

type PipelineNode = Extract<
  Node,
  { kind: "asyncCopy" | "commitCopies" | "awaitCopies" | "arrive" | "awaitPhase" }
>;

export class Pipelines {
  readonly #code: Codegen;

  constructor(code: Codegen) {
    this.#code = code;
  }

  node(node: PipelineNode, scope: Scope): void {
    const code = this.#code;
    if (code.options.seeded && node.kind !== "commitCopies") code.emit(`if(L.preempt())yield ${PREEMPTED};`);
    if (node.kind !== "commitCopies") code.emit(code.count("issuedMemory"));
    switch (node.kind) {
      case "asyncCopy":
        return this.#copy(node, scope);
      case "commitCopies":
        return code.emit(`rt.flights.commit(S,${scope.mask},${code.site(node)});`);
      case "awaitCopies":
        return code.emit(`rt.awaitCopies(S,${scope.mask},${node.newer});`);
      case "arrive":
        return this.#arrive(node, scope);
      case "awaitPhase":
        return this.#awaitPhase(node, scope);
    }
  }

  #copy(node: AsyncCopyNode, scope: Scope): void {
    const code = this.#code;
    const temporary: (() => void)[] = [];
    const memories = [code.memory(node.from), code.memory(node.to)] as const;
    const views = [VIEWS[node.fromIndex.type], VIEWS[node.toIndex.type]] as const;
    const { width } = node;
    const source = code.options.sources.has(node.from) ? { k: memories[0], memory: node.from } : null;
    const landing = `land_${memories[1]}_${width}${source === null ? "" : `_${source.k}`}`;
    code.define(landing, () => landingFunction(landing, memories[1], source, node.to, width, code.options));
    const name = `copy_${[...memories, width, ...views].join("_")}`;
    code.define(name, () => copyFunction(name, node, memories, views, landing, code.options));
    const from = code.spread(node.fromIndex, temporary);
    const to = code.spread(node.toIndex, temporary);
    const active = node.active === null ? -1 : code.spread(node.active, temporary);
    code.emit(`${name}(S,${from},${to},${active},${scope.mask},${scope.count},${code.site(node)});`);
    for (const release of temporary) release();
  }

  #arrive(node: ArriveNode, scope: Scope): void {
    const code = this.#code;
    const index = this.#operand(node.index, scope);
    code.emit(
      `changes++;rt.phases.arrive(S,${this.#barrier(node.barrier)},${index},${scope.mask},` +
        `${node.after === "copies"},${code.site(node)},++request,now);S.tick=++now;`,
    );
  }

  #awaitPhase(node: AwaitPhaseNode, scope: Scope): void {
    const code = this.#code;
    const site = code.site(node);
    const b = this.#barrier(node.barrier);
    const index = this.#operand(node.index, scope);
    const parity = this.#operand(node.parity, scope);
    code.emit(
      `while(!rt.phases.poll(S,${b},${index},${parity},${scope.mask},${site},++request,now)){` +
        `S.barrier=${site};S.arrivedMask=${scope.mask};yield ${AT_PHASE};}++now;`,
    );
  }

  /** Registers, their offset and one number for all lanes: null and 0 where there are none. */
  #operand(value: Value, scope: Scope): string {
    const uniform = this.#code.uniform(value);
    if (uniform !== null) return `null,0,${uniform}`;
    return `S.${VIEWS[value.type]},${this.#code.registers(value, scope)},0`;
  }

  #barrier(barrier: PhaseBarrier): number {
    return this.#code.ir.phaseBarriers.findIndex(({ name }) => name === barrier.name);
  }
}
