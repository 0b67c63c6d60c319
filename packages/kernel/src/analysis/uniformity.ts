/**
 * Uniformity: for every value, variable and place in the control flow, whether it is the same for the whole
 * workgroup, for each subgroup, or only for one lane.
 *
 * Levels only ever get weaker, so a fixpoint over loops is reachability in a graph: divergence spreads from its sources
 * (lane, local indices, loads of memory that may change) along edges "depends on". That is linear in the kernel's size, and
 * the path that first reached a vertex is the explanation in the error. dependence.ts builds the graph.
 */

import type { KernelIR, Node } from "../ir/nodes.ts";
import type { Value, Variable } from "../ir/types.ts";
import { DependenceGraph } from "./dependence.ts";
import { checkConvergence } from "./convergence.ts";

/** The same for all of a workgroup, for all of each subgroup, or for no more than a lane. */
export type Uniformity = "workgroup" | "subgroup" | "lane";

/** By level of the graph. */
const UNIFORMITIES: readonly Uniformity[] = ["workgroup", "subgroup", "lane"];

/** For which invocations values and control flow are the same. */
export interface UniformityResult {
  uniformityOf(value: Value): Uniformity;
  /** The join over everything that is ever assigned, and the control flow of the assignments. */
  uniformityOfVariable(variable: Variable): Uniformity;
  /** Which invocations reach the node together. For a loop or an `if`: the flow around it, not inside. */
  flowOf(node: Node): Uniformity;
}

/** For which invocations values and control flow are the same, by the strict rules and by those of lockstep. */
export interface UniformityAnalysis extends UniformityResult {
  /**
   * The same for machines that run a subgroup in lockstep: a load at an address that is the same for the subgroup
   * gives all lanes one value, even where memory can change. Good for choosing scalar code; barriers and subgroup
   * operations are checked by the strict rules only, which are WGSL's.
   */
  readonly lockstep: UniformityResult;
}

/**
 * Analyses a verified kernel; for an invalid one the result is undefined.
 *
 * @throws EvolverError DIVERGENT_BARRIER for a barrier or uniform load that some invocations of a workgroup may miss,
 *   NON_UNIFORM_INDEX for a uniform load of several addresses, DIVERGENT_SUBGROUP_OPERATION for a subgroup operation
 *   that some lanes of a subgroup may miss; only where `ir.uniformity` is "static". `where` holds the operation's
 *   line, then those that made the flow divergent, the source of the divergence last.
 */
export function analyseUniformity(ir: KernelIR): UniformityAnalysis {
  const graph = new DependenceGraph(ir, "strict");
  if (ir.uniformity === "static") checkConvergence(graph);
  let lockstep: UniformityResult | undefined;
  return {
    ...resultOf(graph),
    get lockstep() {
      return (lockstep ??= resultOf(new DependenceGraph(ir, "lockstep")));
    },
  };
}

function resultOf(graph: DependenceGraph): UniformityResult {
  return {
    uniformityOf: (value) => UNIFORMITIES[graph.levelOfValue(value)] as Uniformity,
    uniformityOfVariable: (variable) => UNIFORMITIES[graph.levelOfVariable(variable)] as Uniformity,
    flowOf: (node) => UNIFORMITIES[graph.flowOf(node)] as Uniformity,
  };
}
