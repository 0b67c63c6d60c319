/**
 * Writes straight-line code: consecutive nodes without control flow or exchange between lanes. Uniform nodes come first,
 * once. Then come all other nodes for the first four lanes, then for the next four, so that few vectors are live at once.
 */

import { assertNever } from "@evolver/base";
import type { LoadNode, Node, Value } from "@evolver/kernel";
import { resultsOf } from "@evolver/kernel";
import { isStraight, type StraightNode } from "../analysis/node-classes.ts";
import { emitSelect } from "../operations/code.ts";
import { emitLanes, emitScalar } from "../operations/emit.ts";
import { storedHalf } from "../operations/representation.ts";
import { operations } from "../operations/table.ts";
import { rowOf } from "../lookup.ts";
import { AddressCache, maskOf, prepareAccess, scalarAddress, type Chunk } from "./address.ts";
import { pushBuiltin, pushBuiltinLanes, pushParameter } from "./builtins.ts";
import type { Emitter, Mask } from "./emitter.ts";
import { OP } from "../wasm/opcodes.ts";
import { loadLanes, loadUniform } from "./loads.ts";
import { storeLanes, storeUniform } from "./stores.ts";

export function emitStraightLine(e: Emitter, nodes: readonly StraightNode[], mask: Mask): void {
  const cache = new AddressCache();
  const laneNodes = nodes.filter((node) => isLaneNode(e, node));
  const byLanes = new Set<Node>(laneNodes);
  for (const node of nodes) if (node.kind === "var") e.declareVariable(node.variable, mask);
  // Places for results that are needed after the sequence come from the scope around it.
  const temporary = new Set<number>();
  for (const node of laneNodes)
    for (const result of resultsOf(node)) {
      const users = e.dataflow.users.get(result.id) ?? [];
      const kept = e.partition.contextValues.has(result.id) || e.spilled.has(result.id);
      if (!kept && users.every((user) => byLanes.has(user))) temporary.add(result.id);
      else e.lanes.set(result.id, e.vectorLocals());
    }
  const late = lateSplats(e, nodes, byLanes);
  for (const node of nodes) {
    if (byLanes.has(node)) continue;
    if (node.kind === "load" && late.has(node)) scalarAddress(e, cache, node);
    else emitScalarNode(e, node, cache, byLanes);
  }
  if (laneNodes.length > 0)
    e.scope(() => {
      const places = new Map<number, SplatPlace>();
      for (const node of late)
        node.results.forEach(({ id }, position) => {
          temporary.add(id);
          places.set(id, { node, position });
        });
      prepare(e, laneNodes, cache, mask, places);
      const lastUse = lastUses(e, laneNodes, temporary);
      for (let index = e.range.first; index < e.range.end; index++) {
        cache.lanes.clear();
        const chunk: Chunk = { e, index, mask, cache };
        laneNodes.forEach((node, position) => {
          for (const { id } of places.size > 0 ? laneOperands(e, node) : []) {
            const place = places.get(id);
            if (place !== undefined && !e.temporaries.has(id)) loadSplat(e, id, place, cache);
          }
          emitLaneNode(chunk, node);
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
export function isLaneNode(e: Emitter, node: StraightNode): boolean {
  const varies = (value: Value): boolean => e.pattern(value).kind === "varying";
  const isUniform = (value: Value): boolean => e.pattern(value).kind === "uniform";
  switch (node.kind) {
    case "op":
    case "varGet":
    case "builtin":
      return varies(node.result);
    case "load":
      return node.results.some(varies);
    case "store":
      return !isUniform(node.index) || !node.values.every(isUniform);
    case "var":
    case "varSet":
      return e.divergence.variable(node.variable.id).kind === "varying";
    case "const":
    case "param":
    case "comment":
      return false;
    default:
      return assertNever(node, "straight node");
  }
}

/** More scalars in memory than these are not kept in vectors from one chunk to the next: there are not enough registers. */
const MAX_KEPT_SPLATS = 4;

/** A result of a load at one address for all lanes. */
interface SplatPlace {
  readonly node: LoadNode;
  readonly position: number;
}

/** Loads at one address whose results each chunk reads from memory where it first uses them. */
function lateSplats(
  e: Emitter,
  nodes: readonly StraightNode[],
  laneNodes: ReadonlySet<Node>,
): ReadonlySet<LoadNode> {
  const loads = nodes.filter(
    (node) =>
      node.kind === "load" &&
      !laneNodes.has(node) &&
      storedHalf[node.memory.element] === null &&
      wantedAsLanesOnly(e, node, laneNodes),
  ) as LoadNode[];
  const results = loads.reduce((sum, node) => sum + node.results.length, 0);
  return new Set(results > MAX_KEPT_SPLATS ? loads : []);
}

/** Reads a scalar into all lanes of a vector. */
function loadSplat(e: Emitter, id: number, { node, position }: SplatPlace, cache: AddressCache): void {
  const [address, offset] = scalarAddress(e, cache, node);
  const local = e.f.local("v128");
  e.f
    .get(address)
    .memory(OP.v128Load32Splat, offset + 4 * position, 2)
    .set(local);
  e.temporaries.set(id, local);
}

/** Splats of scalars and addresses that all lanes of the sequence share. */
function prepare(
  e: Emitter,
  nodes: readonly StraightNode[],
  cache: AddressCache,
  mask: Mask,
  late: ReadonlyMap<number, SplatPlace>,
): void {
  for (const node of nodes) {
    for (const value of laneOperands(e, node)) {
      const { kind, constant } = e.pattern(value);
      if (late.has(value.id)) continue;
      if (kind === "varying" || constant !== undefined || e.splats.has(value.id)) continue;
      const local = e.local("v128");
      e.pushSplat(value);
      e.f.set(local);
      e.splats.set(value.id, local);
    }
    if (node.kind === "load" || node.kind === "store") prepareAccess(e, cache, node, mask);
  }
}

/** Operands that a node needs as lanes. */
export function laneOperands(e: Emitter, node: StraightNode): readonly Value[] {
  switch (node.kind) {
    case "op": {
      const { scalarOperand } = rowOf(operations, node.op, "operation");
      const isScalar = (value: Value, i: number): boolean =>
        i === scalarOperand && e.pattern(value).kind === "uniform";
      return node.operands.filter((value, i) => !isScalar(value, i));
    }
    case "store":
      return node.values;
    case "varSet":
      return [node.value];
    case "var":
      return node.init === null ? [] : [node.init];
    case "const":
    case "param":
    case "builtin":
    case "load":
    case "varGet":
    case "comment":
      return [];
    default:
      return assertNever(node, "straight node");
  }
}

/** By position in the sequence: temporaries that nothing after needs. */
function lastUses(e: Emitter, nodes: readonly StraightNode[], temporary: ReadonlySet<number>): number[][] {
  const last = new Map<number, number>();
  nodes.forEach((node, position) => {
    for (const result of resultsOf(node)) if (temporary.has(result.id)) last.set(result.id, position);
    for (const value of e.dataflow.operandsOf(node))
      if (temporary.has(value.id)) last.set(value.id, position);
  });
  const lists: number[][] = nodes.map(() => []);
  for (const [id, position] of last) (lists[position] as number[]).push(id);
  return lists;
}

/** The local for four lanes of a result. */
function destination({ e, index }: Chunk, value: Value): number {
  const kept = e.lanes.get(value.id);
  if (kept !== undefined) return kept[index] as number;
  let local = e.temporaries.get(value.id);
  if (local === undefined) {
    local = e.f.local("v128");
    e.temporaries.set(value.id, local);
  }
  return local;
}

/** Four lanes of a node. */
function emitLaneNode(chunk: Chunk, node: StraightNode): void {
  const { e, index } = chunk;
  const { f } = e;
  switch (node.kind) {
    case "builtin":
      pushBuiltinLanes(e, node.builtin, index);
      f.set(destination(chunk, node.result));
      return;
    case "op":
      emitLanes(node.op, e.operationSite(node.operands, index));
      f.set(destination(chunk, node.result));
      return;
    case "load":
      return loadLanes(
        chunk,
        node,
        node.results.map((result) => destination(chunk, result)),
      );
    case "store":
      return storeLanes(chunk, node);
    case "varGet":
      f.get((e.variableLanes.get(node.variable.id) as readonly number[])[index] as number);
      f.set(destination(chunk, node.result));
      return;
    case "var":
      if (node.init !== null) assign(chunk, node.variable.id, node.init);
      return;
    case "varSet":
      return assign(chunk, node.variable.id, node.value);
    case "const":
    case "param":
    case "comment":
      throw new Error(`a ${node.kind} has no lanes`);
    default:
      assertNever(node, "straight node");
  }
}

/** Gives a variable four lanes of a value, where lanes are active. */
function assign(chunk: Chunk, variable: number, value: Value): void {
  const { e, index } = chunk;
  const { f } = e;
  const local = (e.variableLanes.get(variable) as readonly number[])[index] as number;
  e.pushLanes(value, index);
  const mask = maskOf(chunk);
  if (mask !== null && e.variableMask.get(variable) !== chunk.mask) {
    f.get(local).get(mask);
    emitSelect(f, e.helpers);
  }
  f.set(local);
}

/**
 * A node that is the same for all lanes.
 *
 * @param laneNodes the nodes of its sequence that are not
 */
export function emitScalarNode(
  e: Emitter,
  node: StraightNode,
  cache: AddressCache,
  laneNodes: ReadonlySet<Node> = new Set(),
): void {
  const { f } = e;
  switch (node.kind) {
    case "const":
    case "comment":
      return;
    case "param":
      pushParameter(e, node.name);
      return e.setScalar(node.result);
    case "builtin":
      pushBuiltin(e, node.builtin);
      return e.setScalar(node.result);
    case "op":
      if (e.pattern(node.result).constant !== undefined) return;
      emitScalar(node.op, e.operationSite(node.operands, 0));
      return e.setScalar(node.result);
    case "load":
      return loadUniform(e, node, cache, wantedAsLanesOnly(e, node, laneNodes));
    case "store":
      return storeUniform(e, node, cache);
    case "varGet":
      f.get(e.variableScalars.get(node.variable.id) as number);
      return e.setScalar(node.result);
    case "var":
    case "varSet": {
      const value = node.kind === "var" ? node.init : node.value;
      if (value === null) return;
      e.pushScalar(value);
      f.set(e.variableScalars.get(node.variable.id) as number);
      return;
    }
    default:
      assertNever(node, "straight node");
  }
}

/** Whether all that use a load use it as lanes, in the same sequence. */
function wantedAsLanesOnly(e: Emitter, node: LoadNode, laneNodes: ReadonlySet<Node>): boolean {
  if (laneNodes.size === 0) return false;
  const usesAsLanes = (user: Node, value: Value): boolean =>
    isStraight(user) &&
    laneNodes.has(user) &&
    laneOperands(e, user).includes(value) &&
    !isIndex(e, user, value);
  return node.results.every((result) => {
    if (e.partition.contextValues.has(result.id) || e.spilled.has(result.id)) return false;
    return (e.dataflow.users.get(result.id) ?? []).every((user) => usesAsLanes(user, result));
  });
}

/** Whether a load or store uses the value as its index (too). */
function isIndex(e: Emitter, user: StraightNode, value: Value): boolean {
  return "index" in user && e.dataflow.resolve(user.index).root === value;
}
