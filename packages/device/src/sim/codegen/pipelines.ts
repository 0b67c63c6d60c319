/** Asynchronous copies and phase barriers, as generated code. */

import type {
  ArriveNode,
  AsyncCopyNode,
  AwaitCopiesNode,
  AwaitPhaseNode,
  CommitCopiesNode,
  PhaseBarrier,
  Value,
} from "@evolver/kernel";
import { countDeclaration } from "./accesses.ts";
import { copyKind, startCopyFunction } from "./copies.ts";
import type { Emitter } from "./emitter.ts";
import type { Scope } from "./scopes.ts";

export class Pipelines {
  readonly #emitter: Emitter;

  constructor(emitter: Emitter) {
    this.#emitter = emitter;
  }

  copy(node: AsyncCopyNode, scope: Scope): void {
    const emitter = this.#emitter;
    this.#begin();
    const from = emitter.memory(node.from);
    const to = emitter.memory(node.to);
    const { width } = node;
    const source = emitter.options.sources.has(node.from) ? from : null;
    const counting = countDeclaration(to, width);
    if (counting !== null) emitter.define(counting.name, () => counting.declaration);
    const kind = `copyKind${width}_${to.name}${source === null ? "" : `_from_${source.name}`}`;
    emitter.define(kind, () => copyKind(kind, { source, target: to, width }, emitter.options));
    const temporary: (() => void)[] = [];
    const sources = emitter.spread(node.fromIndex, temporary);
    const targets = emitter.spread(node.toIndex, temporary);
    const wanted = node.active === null ? -1 : emitter.spread(node.active, temporary).at;
    const name = `copy${width}_${from.name}_by_${sources.file}_${to.name}_by_${targets.file}`;
    emitter.define(name, () => startCopyFunction(name, kind, node, { from, to }, emitter.options));
    const place = emitter.place(node, { from: sources.at, to: targets.at, wanted });
    emitter.emit(`${name}(subgroup, ${scope.active}, ${place});`);
    for (const release of temporary) release();
  }

  commit(node: CommitCopiesNode, { active }: Scope): void {
    this.#emitter.emit(`copies.commit(subgroup, ${active}, ${this.#emitter.site(node)});`);
  }

  awaitCopies({ newer }: AwaitCopiesNode, { active }: Scope): void {
    this.#begin();
    this.#emitter.emit(`runtime.awaitCopies(subgroup, ${active}, ${newer});`);
  }

  arrive(node: ArriveNode, scope: Scope): void {
    const emitter = this.#emitter;
    this.#begin();
    const index = this.#operand(node.index, scope);
    const record = emitter.record("index", index.record);
    const barrier = this.#number(node.barrier);
    const place = emitter.place(node, { barrier, afterCopies: node.after === "copies" });
    emitter.emit(`${record}.${index.set};
      time.changes++;
      time.instruction++;
      phases.arrive(subgroup, ${scope.active}, ${place}, ${record}, time.now);
      subgroup.epochStart = ++time.now;`);
  }

  awaitPhase(node: AwaitPhaseNode, scope: Scope): void {
    const emitter = this.#emitter;
    this.#begin();
    const index = this.#operand(node.index, scope);
    const parity = this.#operand(node.parity, scope);
    const record = emitter.record("phase", `{ index: ${index.record}, parity: ${parity.record} }`);
    const place = emitter.place(node, { barrier: this.#number(node.barrier) });
    // Other subgroups that wait at this place use the records meanwhile.
    emitter.emit(`for (;;) {
      ${record}.index.${index.set};
      ${record}.parity.${parity.set};
      time.instruction++;
      if (phases.poll(subgroup, ${scope.active}, ${place}, ${record}, time.now)) break;
      subgroup.waitsAt = ${place}.site;
      subgroup.arrived = ${scope.active};
      yield AT_PHASE;
    }
    subgroup.freshSince = time.instruction;
    time.now++;`);
  }

  /** What stands before each of these nodes but commits. */
  #begin(): void {
    const emitter = this.#emitter;
    if (emitter.options.seeded) emitter.emit("if (launch.preempt()) yield PREEMPTED;");
    emitter.emit(emitter.count("issuedMemory"));
  }

  /** A number for each lane: a record of it (LaneOperand), and what to set in it before use. */
  #operand(value: Value, scope: Scope): { record: string; set: string } {
    const uniform = this.#emitter.uniform(value);
    if (uniform !== null)
      return { record: "{ registers: null, first: 0, value: 0 }", set: `value = ${uniform}` };
    const { file, at } = this.#emitter.registers(value, scope);
    return { record: `{ registers: null, first: ${at}, value: 0 }`, set: `registers = subgroup.${file}` };
  }

  #number({ name }: PhaseBarrier): number {
    return this.#emitter.ir.phaseBarriers.findIndex((known) => known.name === name);
  }
}
