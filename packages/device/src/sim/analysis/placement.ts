/**
 * Which buffers have elements whose places depend on what atomic operations return, as a list has that invocations append to:
 * who comes first then decides where a value stands, and that order seldom means anything. Anywhere else the place of a
 * value is the program's.
 */

import { blocksOf, memoriesOf, operandsOf, resultsOf, visitNodes } from "@evolver/kernel";
import type { Block, KernelIR, Memory, Node, Value } from "@evolver/kernel";

export function placedByAtomics(ir: KernelIR): ReadonlySet<Memory> {
  const values = new Set<number>();
  const variables = new Set<number>();
  /** Plain memory that holds such values. */
  const memories = new Set<Memory>();
  const placed = new Set<Memory>();
  const depends = (operands: readonly Value[]): boolean => operands.some(({ id }) => values.has(id));

  function visit(node: Node, governed: boolean): void {
    const found = governed || depends(operandsOf(node));
    if (node.kind === "atomic" || node.kind === "store") {
      if (governed || depends([node.index])) placed.add(node.memory);
    }
    if (node.kind === "store" && found) memories.add(node.memory);
    if (node.kind === "asyncCopy" && (found || memories.has(node.from))) memories.add(node.to);
    if ((node.kind === "var" || node.kind === "varSet") && found) variables.add(node.variable.id);
    const reads = memoriesOf(node).some(({ memory, access }) => access !== "write" && memories.has(memory));
    const gets = node.kind === "varGet" && variables.has(node.variable.id);
    if (node.kind === "atomic" || reads || gets || depends(operandsOf(node)))
      for (const { id } of resultsOf(node)) values.add(id);
    const inner = governed || depends(operandsOf(node)) || leavesByAtomics(node);
    for (const block of blocksOf(node)) for (const each of block.nodes) visit(each, inner);
  }

  /** Whether a loop ends where atomic operations say so. */
  function leavesByAtomics(node: Node): boolean {
    if (node.kind !== "for" && node.kind !== "while") return false;
    const leaves = (block: Block): boolean =>
      block.nodes.some((each) => {
        if (each.kind !== "if") return false;
        return (depends([each.condition]) && blocksOf(each).some(exits)) || blocksOf(each).some(leaves);
      });
    return blocksOf(node).some(leaves);
  }

  // Loops carry variables and memory back to earlier nodes.
  const size = (): number => values.size + variables.size + memories.size + placed.size;
  for (let before = -1; size() !== before;) {
    before = size();
    for (const node of ir.body.nodes) visit(node, false);
  }
  return placed;
}

function exits(block: Block): boolean {
  let found = false;
  visitNodes(block, ({ kind }) => {
    if (kind === "break" || kind === "continue") found = true;
  });
  return found;
}
