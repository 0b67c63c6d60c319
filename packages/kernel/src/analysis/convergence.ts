/** The errors of the uniformity analysis: barriers and subgroup operations that not all invocations may reach. */

import { assertNever, EvolverError, formatLocation } from "@evolver/base";
import type { ControlNode, Node, VarSetNode } from "../ir/nodes.ts";
import { isControl, rowOf } from "../ir/schema.ts";
import type { SourceLocation } from "@evolver/base";
import { describeNode } from "../ir/walk.ts";
import { LANE, WORKGROUP } from "./dependence.ts";
import type { DependenceGraph } from "./dependence.ts";

/** Throws for the first operation, in program order, that stands in flow less uniform than it needs. */
export function checkConvergence(graph: DependenceGraph): void {
  for (const { node, flow } of graph.convergent) {
    if (rowOf(node).convergence(node) === "subgroup") {
      if (graph.levelOf(flow) === LANE)
        throw divergent(graph, node, flow, {
          code: "DIVERGENT_SUBGROUP_OPERATION",
          what: `subgroup.${node.kind === "subgroup" ? node.op : "barrier"} may be reached by some lanes of a subgroup only`,
          hint:
            "move it out of the divergent branch or loop, let every lane take part with a neutral value, " +
            'or build the kernel with uniformity: "dynamic" and let the simulator check each run',
        });
      continue;
    }
    if (graph.levelOf(flow) !== WORKGROUP)
      throw divergent(graph, node, flow, {
        code: "DIVERGENT_BARRIER",
        what: `${node.kind === "barrier" ? "a barrier" : describeNode(node)} may be reached by some invocations of the workgroup only`,
        hint:
          "every invocation must meet it: move it out of the branch or loop, make the condition the same for the " +
          "workgroup (parameters, workgroup ids, gpu.uniformLoad), " +
          'or build the kernel with uniformity: "dynamic" and let the simulator check each run',
      });
    if (node.kind === "uniformLoad" && graph.levelOfValue(node.index) !== WORKGROUP)
      throw divergent(graph, node, node.index.id, {
        code: "NON_UNIFORM_INDEX",
        what: `${describeNode(node)} needs one index for the whole workgroup, and this one may differ`,
        hint: "use an index made of constants, parameters, workgroup ids and uniform loads",
      });
  }
}

interface Complaint {
  readonly code: string;
  readonly what: string;
  readonly hint: string;
}

function divergent(graph: DependenceGraph, node: Node, vertex: number, complaint: Complaint): EvolverError {
  const between = graph.levelOf(vertex) === LANE ? "between lanes" : "between subgroups";
  const path = graph.explain(vertex);
  const where: SourceLocation[] = [{ ...node.site.location, note: describeNode(node) }];
  path.forEach((step, i) => {
    const isSource = i === path.length - 1;
    if (isFlow(step)) where.push({ ...step.site.location, note: flowNote(step, between) });
    // Plain arithmetic on the way needs no line of its own.
    else if (isSource) where.push({ ...step.site.location, note: sourceNote(step) });
  });
  const source = path.at(-1);
  const because =
    source && !isFlow(source) ? `: it ${sourceNote(source)}, at ${formatLocation(source.site.location)}` : "";
  return new EvolverError(complaint.code, `${complaint.what}${because}.`, { where, hint: complaint.hint });
}

type FlowNode = ControlNode | VarSetNode;

const isFlow = (node: Node): node is FlowNode => isControl(node) || node.kind === "varSet";

/** What a node on the way contributed. */
function flowNote(node: FlowNode, between: string): string {
  switch (node.kind) {
    case "if":
      return `this condition differs ${between}`;
    case "for":
    case "while":
      return `the number of iterations differs ${between}`;
    case "break":
    case "continue":
      return `this ${node.kind} is not taken by all`;
    case "roles":
      return "each role is run by its own subgroups";
    case "varSet":
      return `${node.variable.name} is set here to what differs ${between}, or not by all`;
    default:
      return assertNever(node, "kind of node");
  }
}

function sourceNote(node: Node): string {
  if (node.kind === "builtin") return `depends on ${node.builtin}`;
  if (node.kind === "load") return `depends on a load of ${node.memory.name}, which the kernel can write`;
  if (node.kind === "atomic") return `depends on the old value that an atomic ${node.op} gave`;
  if (node.kind === "subgroup")
    return `depends on the result of subgroup.${node.op}, which differs between subgroups or lanes`;
  return `depends on ${describeNode(node)}`;
}
