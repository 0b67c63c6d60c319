/**
 * Finds what is the same in all lanes of a subgroup, so that it can be one JavaScript number instead of an array, and
 * which control flow splits a subgroup, so that everything else runs without masks. A conservative static analysis for
 * speed alone: a wrong "varying" costs time, and nothing here reports errors.
 */

import { assertNever } from "@evolver/base";
import { subgroupOps } from "@evolver/kernel";
import type { Block, ForNode, KernelIR, Node, Value, VarSetNode, Variable, WhileNode } from "@evolver/kernel";
import { builtins } from "./builtins.ts";

type LoopNode = ForNode | WhileNode;

export interface LaneAnalysis {
  /** By value id: the active lanes of a subgroup always agree on it. */
  readonly uniform: readonly boolean[];
  /** By variable id. */
  readonly uniformVariable: readonly boolean[];
  /** Loops that lanes of one subgroup may leave at different times. */
  readonly divergentLoops: ReadonlySet<LoopNode>;
  /** Assignments that run with fewer lanes than saw the variable's declaration. */
  readonly maskedSets: ReadonlySet<VarSetNode>;
  /** Breaks and continues that only some of the loop's lanes take. */
  readonly divergentExits: ReadonlySet<Node>;
}

/** Where the walk is: the set of active lanes there has a number, equal only for equal sets. */
interface Place {
  region: number;
  readonly loop: { readonly node: LoopNode; readonly region: number } | null;
}

export function analyseLanes(ir: KernelIR): LaneAnalysis {
  const varying = new Array<boolean>(ir.valueCount).fill(false);
  const varyingVariable = new Array<boolean>(ir.variableCount).fill(false);
  const divergentLoops = new Set<LoopNode>();
  const maskedSets = new Set<VarSetNode>();
  const divergentExits = new Set<Node>();
  const declaredIn = new Map<number, number>();
  let changed = true;
  let regions = 0;

  const vary = (id: number): void => {
    if (varying[id]) return;
    varying[id] = true;
    changed = true;
  };
  const varyVariable = (variable: Variable): void => {
    if (varyingVariable[variable.id]) return;
    varyingVariable[variable.id] = true;
    changed = true;
  };
  const mark = <T>(set: Set<T>, item: T): void => {
    if (set.has(item)) return;
    set.add(item);
    changed = true;
  };

  /** Returns whether some lanes, but not all, may have left for the loop's end or next iteration. */
  function walk(block: Block, place: Place): boolean {
    let partial = false;
    for (const node of block.nodes) if (visit(node, place)) partial = true;
    return partial;
  }

  function visitLoop(node: LoopNode, place: Place): void {
    const region = divergentLoops.has(node) ? ++regions : place.region;
    const inner: Place = { region, loop: { node, region } };
    if (node.kind === "for") {
      const fromVaries = varying[node.from.id] || varying[node.step.id];
      if (fromVaries) vary(node.induction.id);
      if (fromVaries || varying[node.to.id]) mark(divergentLoops, node);
    } else {
      walk(node.condition, inner);
      if (varying[node.test.id]) mark(divergentLoops, node);
    }
    walk(node.body, inner);
  }

  function visit(node: Node, place: Place): boolean {
    switch (node.kind) {
      case "builtin":
        if (builtins[node.builtin].varies(ir)) vary(node.result.id);
        return false;
      case "op":
        if (node.operands.some((operand) => varying[operand.id])) vary(node.result.id);
        return false;
      case "load":
        if (varying[node.index.id]) for (const result of node.results) vary(result.id);
        return false;
      case "uniformLoad":
        if (varying[node.index.id]) vary(node.result.id);
        return false;
      case "atomic":
        if (node.result) vary(node.result.id);
        return false;
      case "subgroup":
        if (!subgroupOps[node.op].agrees((node.operands[0] as Value).type))
          for (const result of node.results) vary(result.id);
        return false;
      case "var":
        declaredIn.set(node.variable.id, place.region);
        if (node.init && varying[node.init.id]) varyVariable(node.variable);
        return false;
      case "varGet":
        if (varyingVariable[node.variable.id]) vary(node.result.id);
        return false;
      case "varSet": {
        const masked = declaredIn.get(node.variable.id) !== place.region;
        if (masked) mark(maskedSets, node);
        if (masked || varying[node.value.id]) varyVariable(node.variable);
        return false;
      }
      case "if": {
        const splits = varying[node.condition.id];
        const branch = (block: Block): boolean =>
          walk(block, { region: splits ? ++regions : place.region, loop: place.loop });
        const partialThen = branch(node.then);
        const partial = branch(node.else) || partialThen;
        if (partial) place.region = ++regions;
        return partial;
      }
      case "for":
      case "while":
        visitLoop(node, place);
        return false;
      case "roles": {
        let partial = false;
        for (const role of node.roles)
          if (walk(role.body, { region: place.region, loop: place.loop })) partial = true;
        if (partial) place.region = ++regions;
        return partial;
      }
      case "break":
      case "continue": {
        if (place.loop === null || place.region === place.loop.region) return false;
        mark(divergentExits, node);
        mark(divergentLoops, place.loop.node);
        return true;
      }
      case "const":
      case "param":
      case "store":
      case "barrier":
      case "asyncCopy":
      case "commitCopies":
      case "awaitCopies":
      case "arrive":
      case "awaitPhase":
      case "comment":
      case "trace":
        return false;
      default:
        return assertNever(node, "node kind");
    }
  }

  while (changed) {
    changed = false;
    regions = 0;
    walk(ir.body, { region: 0, loop: null });
  }
  return {
    uniform: varying.map((value) => !value),
    uniformVariable: varyingVariable.map((value) => !value),
    divergentLoops,
    maskedSets,
    divergentExits,
  };
}
