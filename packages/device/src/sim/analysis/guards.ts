/**
 * Branches that keep stores below an extent that the launch is given: `gpu.if(i.lt(n), () => y.set(i, …))`. Where a launch
 * has too few invocations, such a branch never says no, and elements stay unwritten (runtime/reach.ts).
 */

import { visitNodes, resultsOf } from "@evolver/kernel";
import type { IfNode, KernelIR, Memory, Node, StoreNode, Value } from "@evolver/kernel";

export interface Guard {
  readonly node: IfNode;
  /** What is compared: made of indices of the invocation, loop counters and constants alone. */
  readonly index: Value;
  /** The index is below it; with `orEqual` it may be as large. Made of parameters and constants. */
  readonly extent: Value;
  readonly orEqual: boolean;
  /** A store to each buffer behind the branch that is only written. */
  readonly stores: ReadonlyMap<Memory, StoreNode>;
}

export function findGuards(ir: KernelIR): readonly Guard[] {
  const definitions = new Map<number, Node>();
  visitNodes(ir.body, (node) => {
    for (const { id } of resultsOf(node)) definitions.set(id, node);
    if (node.kind === "for") definitions.set(node.induction.id, node);
  });
  // A buffer's length is what the launch has room for, no more than that.
  const given = new Set(
    ir.params.flatMap((param) => (param.kind === "scalar" && param.lengthOf === null ? [param.name] : [])),
  );
  const sources = sourcesOf(definitions, given);
  const guards: Guard[] = [];
  visitNodes(ir.body, (node) => {
    if (node.kind !== "if") return;
    const stores = storesIn(node);
    if (stores.size === 0) return;
    for (const { small, large, orEqual } of comparisons(node.condition, definitions)) {
      const [index, extent] = [sources(small), sources(large)];
      if (!index.other && index.place && !extent.other && !extent.place && extent.param)
        guards.push({ node, index: small, extent: large, orEqual, stores });
    }
  });
  return guards;
}

function storesIn({ then }: IfNode): Map<Memory, StoreNode> {
  const stores = new Map<Memory, StoreNode>();
  visitNodes(then, (node) => {
    if (node.kind !== "store" || node.memory.space !== "global" || node.memory.access !== "write") return;
    if (!stores.has(node.memory)) stores.set(node.memory, node);
  });
  return stores;
}

interface Comparison {
  readonly small: Value;
  readonly large: Value;
  readonly orEqual: boolean;
}

/** The comparisons of which all must hold. */
function comparisons(condition: Value, definitions: ReadonlyMap<number, Node>): Comparison[] {
  const node = definitions.get(condition.id);
  if (node?.kind !== "op") return [];
  const [a, b] = node.operands as [Value, Value];
  if (node.op === "and") return [...comparisons(a, definitions), ...comparisons(b, definitions)];
  if (node.op === "lt" || node.op === "le") return [{ small: a, large: b, orEqual: node.op === "le" }];
  if (node.op === "gt" || node.op === "ge") return [{ small: b, large: a, orEqual: node.op === "ge" }];
  return [];
}

/** What a value is made of. */
interface Sources {
  readonly place: boolean;
  readonly param: boolean;
  readonly other: boolean;
}

function sourcesOf(
  definitions: ReadonlyMap<number, Node>,
  given: ReadonlySet<string>,
): (value: Value) => Sources {
  const known = new Map<number, Sources>();
  const find = ({ id }: Value): Sources => {
    const node = definitions.get(id);
    const only = (source: Partial<Sources>): Sources => ({
      place: false,
      param: false,
      other: false,
      ...source,
    });
    if (node?.kind === "const") return only({});
    if (node?.kind === "param") return only(given.has(node.name) ? { param: true } : {});
    if (node?.kind === "builtin" || node?.kind === "for") return only({ place: true });
    if (node?.kind !== "op") return only({ other: true });
    const parts = node.operands.map(of);
    return {
      place: parts.some(({ place }) => place),
      param: parts.some(({ param }) => param),
      other: parts.some(({ other }) => other),
    };
  };
  const of = (value: Value): Sources => {
    let sources = known.get(value.id);
    if (sources === undefined) known.set(value.id, (sources = find(value)));
    return sources;
  };
  return of;
}
