/**
 * The context area: what lives from one barrier-free region to a later one, kept in memory for each subgroup while the
 * others have their turn. First comes the exchange area for shuffles, which all subgroups use in turn, then each
 * subgroup's part.
 */

import { blocksOf, variablesOf, visitNodes } from "@evolver/kernel";
import type { BuiltinNode, KernelIR, Node, Value, VariableType } from "@evolver/kernel";
import { isLoop } from "../analysis/node-classes.ts";
import { readsByIndex } from "../analysis/subgroup-patterns.ts";
import { representations } from "../operations/representation.ts";
import { OP } from "../wasm/opcodes.ts";
import { subgroupBuiltin } from "./builtins.ts";
import type { Emitter } from "./emitter.ts";
import { emitStraightLine } from "./straight-line.ts";

export class ContextArea {
  readonly #e: Emitter;
  /** Offsets in a subgroup's part. */
  readonly #valueSlots = new Map<number, number>();
  readonly #variableSlots = new Map<number, number>();
  readonly #variableTypes = new Map<number, VariableType>();
  readonly exchangeBytes: number;
  /** Of each subgroup. */
  subgroupBytes = 0;

  constructor(e: Emitter) {
    this.#e = e;
    this.exchangeBytes = 8 * e.width;
    for (const value of e.partition.contextValues.values()) {
      const lanes = e.pattern(value).kind === "varying";
      const slot = this.#place(lanes);
      this.#valueSlots.set(value.id, slot);
      if (lanes) e.spilled.set(value.id, slot);
    }
    for (const id of e.partition.contextVariables)
      this.#variableSlots.set(id, this.#place(e.divergence.variable(id).kind === "varying"));
    visitNodes(e.ir.body, (node) => {
      if (node.kind === "var") this.#variableTypes.set(node.variable.id, node.variable.type);
    });
    this.#placeSpills();
    this.subgroupBytes = alignTo(this.subgroupBytes, 16);
  }

  /** Makes the first lane's value of the first subgroup usable as a scalar, if the value is kept here. */
  bring(value: Value): boolean {
    const slot = this.#valueSlots.get(value.id);
    if (slot === undefined) return false;
    const e = this.#e;
    e.f.get(e.contextBase).memory(representations[value.type].load, this.exchangeBytes + slot, 2);
    e.setScalar(value);
    return true;
  }

  /** Loads what the nodes of a region need of earlier ones. */
  restore(nodes: readonly Node[]): void {
    const e = this.#e;
    const here = new Set(nodes);
    const builtins = new Set<BuiltinNode>();
    const { needed, touched, declared } = usesOf(e, nodes);
    for (const value of needed) {
      const builtin = subgroupBuiltin(e, value);
      if (builtin !== null) builtins.add(builtin);
      const slot = this.#valueSlots.get(value.id);
      if (slot === undefined || here.has(e.dataflow.definitions.get(value.id) as Node)) continue;
      if (e.pattern(value).kind === "varying") {
        e.lanes.set(value.id, this.#loadLanes(slot));
      } else {
        e.f.get(e.subgroupContext).memory(representations[value.type].load, slot, 2);
        e.setScalar(value);
      }
    }
    emitStraightLine(e, [...builtins], null);
    for (const id of touched) {
      const slot = this.#variableSlots.get(id);
      if (slot === undefined || declared.has(id)) continue;
      e.variableMask.set(id, null);
      if (e.divergence.variable(id).kind === "varying") {
        e.variableLanes.set(id, this.#loadLanes(slot));
      } else {
        const { scalar, load } = representations[this.#variableTypes.get(id) as VariableType];
        const local = e.local(scalar);
        e.f.get(e.subgroupContext).memory(load, slot, 2).set(local);
        e.variableScalars.set(id, local);
      }
    }
  }

  /** Stores what the nodes of a region made or changed and others need. */
  save(nodes: readonly Node[]): void {
    const e = this.#e;
    const { f } = e;
    const here = new Set(nodes);
    for (const [id, value] of e.partition.contextValues) {
      // Lanes were stored where they were made.
      if (e.pattern(value).kind === "varying" || !here.has(e.dataflow.definitions.get(id) as Node)) continue;
      f.get(e.subgroupContext);
      e.pushScalar(value);
      f.memory(representations[value.type].store, this.#valueSlots.get(id) as number, 2);
    }
    for (const id of usesOf(e, nodes).written) {
      const slot = this.#variableSlots.get(id);
      if (slot === undefined) continue;
      if (e.divergence.variable(id).kind === "varying") {
        (e.variableLanes.get(id) as readonly number[]).forEach((local, k) => {
          f.get(e.subgroupContext)
            .get(local)
            .memory(OP.v128Store, slot + 16 * k, 4);
        });
      } else {
        f.get(e.subgroupContext).get(e.variableScalars.get(id) as number);
        f.memory(representations[this.#variableTypes.get(id) as VariableType].store, slot, 2);
      }
    }
  }

  #place(lanes: boolean): number {
    const offset = lanes ? alignTo(this.subgroupBytes, 16) : this.subgroupBytes;
    this.subgroupBytes = offset + (lanes ? 4 * this.#e.width : 4);
    return offset;
  }

  /** Values from outside a loop that the loop reads lane by lane are stored once, before it. */
  #placeSpills(): void {
    const e = this.#e;
    const depths = loopDepths(e.ir);
    visitNodes(e.ir.body, (node) => {
      if (node.kind !== "subgroup" || !readsByIndex(node.op)) return;
      const [value, lane] = node.operands as [Value, Value];
      const definition = e.dataflow.definitions.get(value.id) as Node;
      if (
        e.pattern(lane).kind !== "uniform" ||
        e.pattern(value).kind !== "varying" ||
        e.spilled.has(value.id)
      )
        return;
      // A loop's own index changes with every iteration.
      if (isLoop(definition)) return;
      if ((depths.get(definition) as number) >= (depths.get(node) as number)) return;
      e.spilled.set(value.id, this.#place(true));
    });
  }

  #loadLanes(slot: number): number[] {
    const e = this.#e;
    return Array.from({ length: e.chunks }, (_, k) => {
      const local = e.local("v128");
      e.f
        .get(e.subgroupContext)
        .memory(OP.v128Load, slot + 16 * k, 4)
        .set(local);
      return local;
    });
  }
}

export function alignTo(bytes: number, to: number): number {
  return Math.ceil(bytes / to) * to;
}

/** Values that nodes read, and variables that they touch, write and declare. */
function usesOf(e: Emitter, nodes: readonly Node[]) {
  const values = new Map<number, Value>();
  const touched = new Set<number>();
  const written = new Set<number>();
  const declared = new Set<number>();
  visitNodes({ nodes }, (node) => {
    for (const value of e.dataflow.operandsOf(node)) values.set(value.id, value);
    for (const { variable, does } of variablesOf(node)) {
      touched.add(variable.id);
      if (does !== "read") written.add(variable.id);
      if (does === "declare") declared.add(variable.id);
    }
  });
  return { needed: [...values.values()], touched, written, declared };
}

/** How many loops stand around each node. */
function loopDepths(ir: KernelIR): Map<Node, number> {
  const depths = new Map<Node, number>();
  const walk = (nodes: readonly Node[], depth: number): void => {
    for (const node of nodes) {
      depths.set(node, depth);
      for (const block of blocksOf(node)) walk(block.nodes, isLoop(node) ? depth + 1 : depth);
    }
  };
  walk(ir.body.nodes, 0);
  return depths;
}
