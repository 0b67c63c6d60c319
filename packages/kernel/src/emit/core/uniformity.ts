/** Which invocations reach a node together, found when it is first asked for. */

import { analyseUniformity, type Uniformity, type UniformityAnalysis } from "../../analysis/index.ts";
import type { KernelIR, Node } from "../../ir/nodes.ts";

export function flowOf(ir: KernelIR): (node: Node) => Uniformity {
  let analysis: UniformityAnalysis | undefined;
  return (node) => (analysis ??= analyseUniformity(ir)).flowOf(node);
}
