/**
 * Which values of a kernel may be indeterminate, given the places where such values were seen to arise: reads of lanes that
 * take no part, of variables that were not set, and of memory that nobody wrote. Only these values get shadows
 * (codegen/shadows.ts), so that kernels without such places pay nothing.
 */

import { assertNever } from "@evolver/base";
import { blocksOf, resultsOf, visitNodes } from "@evolver/kernel";
import type { Block, IfNode, KernelIR, Memory, Node, SubgroupOp, Value } from "@evolver/kernel";

export interface Indeterminate {
  /** By value id. */
  readonly values: ReadonlySet<number>;
  /** By variable id. */
  readonly variables: ReadonlySet<number>;
  /** Shared memory that may hold such values. */
  readonly memories: ReadonlySet<Memory>;
}

/** Whether an operation reads the value of a lane that it names. */
export function readsLane(op: SubgroupOp): boolean {
  return op === "broadcast" || op.startsWith("shuffle");
}

/** Whether a kernel has any place where an indeterminate value can arise. */
export function mayOriginate(ir: KernelIR, scratch: ReadonlySet<Memory>): boolean {
  let found = false;
  visitNodes(ir.body, (node) => {
    if (node.kind === "subgroup") found ||= readsLane(node.op);
    else if (node.kind === "uniformLoad") found = true;
    else if (node.kind === "var") found ||= node.init === null;
    else if (node.kind === "load") found ||= node.memory.space === "shared" || scratch.has(node.memory);
  });
  return found;
}

/**
 * Whether a branch only computes and sets variables. An indeterminate condition then makes those variables
 * indeterminate; anywhere else it decides what happens.
 */
export function onlySetsVariables({ then, else: otherwise }: IfNode): boolean {
  const only = (block: Block): boolean =>
    block.nodes.every((node) => {
      switch (node.kind) {
        case "const":
        case "param":
        case "builtin":
        case "op":
        case "load":
        case "var":
        case "varGet":
        case "varSet":
        case "comment":
        case "trace":
          return true;
        case "if":
          return onlySetsVariables(node);
        case "store":
        case "uniformLoad":
        case "atomic":
        case "for":
        case "while":
        case "break":
        case "continue":
        case "roles":
        case "barrier":
        case "subgroup":
        case "asyncCopy":
        case "commitCopies":
        case "awaitCopies":
        case "arrive":
        case "awaitPhase":
          return false;
        default:
          return assertNever(node, "node kind");
      }
    });
  return only(then) && only(otherwise);
}

/** The ids of the variables that are set in a branch. */
export function variablesSetIn(node: IfNode): ReadonlySet<number> {
  const set = new Set<number>();
  for (const block of blocksOf(node))
    visitNodes(block, (inner) => {
      if (inner.kind === "varSet") set.add(inner.variable.id);
    });
  return set;
}

/** @param origins the nodes whose results may be indeterminate by themselves */
export function findIndeterminate(ir: KernelIR, origins: ReadonlySet<Node>): Indeterminate {
  const values = new Set<number>();
  const variables = new Set<number>();
  const memories = new Set<Memory>();
  const some = (operands: readonly Value[]): boolean => operands.some(({ id }) => values.has(id));
  const mark = (node: Node): void => {
    for (const { id } of resultsOf(node)) values.add(id);
  };

  function visit(node: Node): void {
    if (origins.has(node)) mark(node);
    switch (node.kind) {
      case "op":
      case "subgroup":
        if (some(node.operands)) mark(node);
        return;
      case "load":
      case "uniformLoad":
        if (memories.has(node.memory)) mark(node);
        return;
      case "store":
        if (node.memory.space === "shared" && some(node.values)) memories.add(node.memory);
        return;
      case "var":
        if (node.init !== null && values.has(node.init.id)) variables.add(node.variable.id);
        return;
      case "varGet":
        if (variables.has(node.variable.id)) mark(node);
        return;
      case "varSet":
        if (values.has(node.value.id)) variables.add(node.variable.id);
        return;
      case "if":
        if (values.has(node.condition.id) && onlySetsVariables(node))
          for (const id of variablesSetIn(node)) variables.add(id);
        return;
      case "const":
      case "param":
      case "builtin":
      case "atomic":
      case "for":
      case "while":
      case "break":
      case "continue":
      case "roles":
      case "barrier":
      case "asyncCopy":
      case "commitCopies":
      case "awaitCopies":
      case "arrive":
      case "awaitPhase":
      case "comment":
      case "trace":
        return;
      default:
        assertNever(node, "node kind");
    }
  }

  // Loops carry variables and memory back to earlier nodes.
  for (let before = -1, now = 0; now !== before; now = values.size + variables.size + memories.size) {
    before = now;
    visitNodes(ir.body, visit);
  }
  return { values, variables, memories };
}
