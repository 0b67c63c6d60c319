/**
 * Writes runs: nodes in a row without control flow or talk between lanes. What is the same for all lanes comes
 * first, once; then the rest for four lanes at a time, all nodes before the next four lanes, so that few vectors are
 * live at once.
 */

import type { LoadNode, Memory, Node, StoreNode, Value } from "@evolver/kernel";
import { resultsOf } from "@evolver/kernel";
import { loadLanes, loadScalar, storeLanes, storeScalar } from "./access.ts";
import { AddressCache, prepareAccess } from "./address.ts";
import { pushBuiltin, pushBuiltinLanes, pushParameter } from "./builtins.ts";
import type { Emitter, Mask } from "./emitter.ts";
import { emitLanes, emitScalar } from "./operations.ts";

/** Whether a node may be part of a run. */
export function isStraight(node: Node): boolean {
  switch (node.kind) {
    case "const":
    case "param":
    case "builtin":
    case "op":
    case "load":
    case "store":
    case "var":
    case "varGet":
    case "varSet":
    case "comment":
      return true;
    default:
      return false;
  }
}

interface Access {
  readonly index: Value;
  readonly width: number;
}

/**
 * The accesses of a run so far. Four lanes finish all of a run before the next four start, so two accesses that may
 * touch the same element from different lanes must not be in one run, unless both only read.
 */
export class Hazards {
  readonly #e: Emitter;
  readonly #loads = new Map<Memory, Access[]>();
  readonly #stores = new Map<Memory, Access[]>();

  constructor(e: Emitter) {
    this.#e = e;
  }

  /** Adds a node; false (and nothing added) where it must start a new run. */
  add(node: Node): boolean {
    if (node.kind !== "load" && node.kind !== "store") return true;
    const { memory, index } = node;
    const access = { index, width: node.kind === "store" ? node.values.length : node.results.length };
    const sameElements = (other: Access): boolean =>
      other.index === index && other.width === access.width && this.#isLanes(index);
    // Loads move past nothing but loads, and stores of lanes past other stores of lanes too.
    if (node.kind === "load") {
      if (!(this.#stores.get(memory) ?? []).every(sameElements)) return false;
    } else {
      if (!(this.#loads.get(memory) ?? []).every(sameElements)) return false;
      const stores = this.#stores.get(memory) ?? [];
      if (stores.length > 0 && !(this.#isLanes(index) && stores.every((other) => this.#isLanes(other.index))))
        return false;
    }
    const lists = node.kind === "load" ? this.#loads : this.#stores;
    const list = lists.get(memory);
    if (list === undefined) lists.set(memory, [access]);
    else list.push(access);
    return true;
  }

  /** Whether lanes have elements of their own. */
  #isLanes(index: Value): boolean {
    return this.#e.form(index).kind !== "scalar";
  }
}

export function emitRun(e: Emitter, nodes: readonly Node[], mask: Mask): void {
  const cache = new AddressCache();
  const laneNodes = nodes.filter((node) => isLaneNode(e, node));
  const inRun = new Set<Node>(laneNodes);
  for (const node of nodes) if (node.kind === "var") e.declareVariable(node.variable, mask);
  // Places for results that are needed after the run come from the scope around it.
  const temporary = new Set<number>();
  for (const node of laneNodes)
    for (const result of resultsOf(node)) {
      const users = e.partition.users.get(result.id) ?? [];
      const kept = e.partition.contextValues.has(result.id) || e.spilled.has(result.id);
      if (!kept && users.every((user) => inRun.has(user))) temporary.add(result.id);
      else e.lanes.set(result.id, e.vectorLocals());
    }
  for (const node of nodes) if (!inRun.has(node)) emitScalarNode(e, node, cache, inRun);
  if (laneNodes.length > 0)
    e.scope(() => {
      prepare(e, laneNodes, cache, mask);
      const lastUse = lastUses(e, laneNodes, temporary);
      for (let k = 0; k < e.chunks; k++) {
        cache.lanes.clear();
        laneNodes.forEach((node, position) => {
          emitLaneNode(e, node, cache, k, mask);
          for (const id of lastUse[position] as number[]) {
            e.f.release(e.temporaries.get(id) as number);
            e.temporaries.delete(id);
          }
        });
      }
    });
  e.splats.clear();
  for (const node of laneNodes) for (const result of resultsOf(node)) e.spill(result);
}

/** Whether a node has to be written lane by lane. */
export function isLaneNode(e: Emitter, node: Node): boolean {
  const lanes = (value: Value): boolean => e.form(value).kind === "lanes";
  switch (node.kind) {
    case "op":
    case "varGet":
      return lanes(node.result);
    case "builtin":
      return lanes(node.result);
    case "load":
      return node.results.some(lanes);
    case "store":
      return (
        e.form(node.index).kind !== "scalar" || node.values.some((value) => e.form(value).kind !== "scalar")
      );
    case "var":
    case "varSet":
      return e.forms.variable(node.variable.id).kind === "lanes";
    default:
      return false;
  }
}

/** Splats of scalars and addresses that all lanes of the run share. */
function prepare(e: Emitter, nodes: readonly Node[], cache: AddressCache, mask: Mask): void {
  for (const node of nodes) {
    for (const value of laneOperands(e, node)) {
      const form = e.form(value);
      if (form.kind === "lanes" || form.constant !== undefined || e.splats.has(value.id)) continue;
      const local = e.local("v128");
      e.pushSplat(value);
      e.f.set(local);
      e.splats.set(value.id, local);
    }
    if (node.kind === "load" || node.kind === "store") prepareAccess(e, cache, node, mask);
  }
}

/** Operands that a node needs as lanes. */
export function laneOperands(e: Emitter, node: Node): readonly Value[] {
  switch (node.kind) {
    case "op": {
      const shiftByScalar =
        (node.op === "shl" || node.op === "shr") && e.form(node.operands[1] as Value).kind === "scalar";
      return shiftByScalar ? node.operands.slice(0, 1) : node.operands;
    }
    case "store":
      return node.values;
    case "varSet":
      return [node.value];
    case "var":
      return node.init === null ? [] : [node.init];
    default:
      return [];
  }
}

/** By position in the run: temporaries that nothing after needs. */
function lastUses(e: Emitter, nodes: readonly Node[], temporary: ReadonlySet<number>): number[][] {
  const last = new Map<number, number>();
  nodes.forEach((node, position) => {
    for (const result of resultsOf(node)) if (temporary.has(result.id)) last.set(result.id, position);
    for (const value of e.partition.operandsOf(node))
      if (temporary.has(value.id)) last.set(value.id, position);
  });
  const lists: number[][] = nodes.map(() => []);
  for (const [id, position] of last) (lists[position] as number[]).push(id);
  return lists;
}

/** The local for four lanes of a result. */
function destination(e: Emitter, value: Value, chunk: number): number {
  const kept = e.lanes.get(value.id);
  if (kept !== undefined) return kept[chunk] as number;
  let local = e.temporaries.get(value.id);
  if (local === undefined) {
    local = e.f.local("v128");
    e.temporaries.set(value.id, local);
  }
  return local;
}

function emitLaneNode(e: Emitter, node: Node, cache: AddressCache, chunk: number, mask: Mask): void {
  const { f } = e;
  switch (node.kind) {
    case "builtin":
      pushBuiltinLanes(e, node.builtin, chunk);
      f.set(destination(e, node.result, chunk));
      return;
    case "op":
      emitLanes(
        f,
        e.helpers,
        node.op,
        node.operands.map((operand) => operand.type),
        e.operands(node.operands, chunk),
      );
      f.set(destination(e, node.result, chunk));
      return;
    case "load":
      loadLanes(
        e,
        node,
        cache,
        chunk,
        mask,
        node.results.map((result) => destination(e, result, chunk)),
      );
      return;
    case "store":
      storeLanes(e, node, cache, chunk, mask);
      return;
    case "varGet":
      f.get((e.variableLanes.get(node.variable.id) as readonly number[])[chunk] as number);
      f.set(destination(e, node.result, chunk));
      return;
    case "var":
      if (node.init !== null) assign(e, node.variable.id, node.init, chunk, mask);
      return;
    case "varSet":
      assign(e, node.variable.id, node.value, chunk, mask);
      return;
    default:
      return;
  }
}

function assign(e: Emitter, variable: number, value: Value, chunk: number, mask: Mask): void {
  const { f } = e;
  const local = (e.variableLanes.get(variable) as readonly number[])[chunk] as number;
  e.pushLanes(value, chunk);
  if (mask !== null && e.variableMask.get(variable) !== mask) {
    f.get(local).get(mask[chunk] as number);
    e.helpers.select(f);
  }
  f.set(local);
}

/** A node that is the same for all lanes. */
export function emitScalarNode(
  e: Emitter,
  node: Node,
  cache: AddressCache,
  laneNodes: ReadonlySet<Node> = new Set(),
): void {
  const { f } = e;
  switch (node.kind) {
    case "param":
      pushParameter(e, node.name);
      e.setScalar(node.result);
      return;
    case "builtin":
      pushBuiltin(e, node.builtin);
      e.setScalar(node.result);
      return;
    case "op":
      if (e.form(node.result).constant !== undefined) return;
      emitScalar(
        f,
        e.helpers,
        node.op,
        node.operands.map((operand) => operand.type),
        e.operands(node.operands, 0),
      );
      e.setScalar(node.result);
      return;
    case "load":
      loadScalar(e, node, cache, wantedAsLanesOnly(e, node, laneNodes));
      return;
    case "store":
      storeScalar(e, node, cache);
      return;
    case "varGet":
      f.get(e.variableScalars.get(node.variable.id) as number);
      e.setScalar(node.result);
      return;
    case "var":
    case "varSet": {
      const value = node.kind === "var" ? node.init : node.value;
      if (value === null) return;
      e.pushScalar(value);
      f.set(e.variableScalars.get(node.variable.id) as number);
      return;
    }
    default:
      return;
  }
}

function wantedAsLanesOnly(e: Emitter, node: LoadNode | StoreNode, laneNodes: ReadonlySet<Node>): boolean {
  if (node.kind !== "load" || laneNodes.size === 0) return false;
  return node.results.every((result) => {
    if (e.partition.contextValues.has(result.id) || e.spilled.has(result.id)) return false;
    return (e.partition.users.get(result.id) ?? []).every(
      (user) => laneNodes.has(user) && laneOperands(e, user).includes(result) && indexOfNone(e, user, result),
    );
  });
}

/** Whether a load or store does not use the value as its index too. */
function indexOfNone(e: Emitter, user: Node, value: Value): boolean {
  if (user.kind !== "load" && user.kind !== "store") return true;
  return e.partition.resolve(user.index).root !== value;
}
