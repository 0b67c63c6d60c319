/** Loops and calls of phase barriers in CUDA C++ and HIP C++. */

import type { ArriveNode, AwaitPhaseNode } from "../../ir/nodes.ts";
import type { Code } from "../core/code.ts";
import { call, infix, simple, type Operand } from "../core/expression.ts";
import type { ControlFlow } from "../core/target.ts";
import { cppType } from "./language.ts";

export const cppFlow = (code: Code): ControlFlow => ({
  endless: "while (true) {",
  forHeader({ node, name, from, to, step, passesEnd }) {
    const test = infix(node.direction === "up" ? "<" : ">", simple(name), to).text;
    const next = passesEnd
      ? `${name} = ${call(code.helper("advance"), simple(name), step, to).text}`
      : step.constant === 1
        ? `++${name}`
        : `${name} += ${step.text}`;
    return `for (${cppType(node.induction.type)} ${name} = ${from.text}; ${test}; ${next})`;
  },
  beforeLoop(node) {
    if (node.kind === "while" || node.unroll === false) return;
    code.line(node.unroll === true ? "#pragma unroll" : `#pragma unroll ${node.unroll}`);
  },
});

/** Calls a function of phase barriers for one of them. */
export function callOnPhase(
  code: Code,
  helper: string,
  { barrier }: ArriveNode | AwaitPhaseNode,
  index: Operand,
  more: string,
): void {
  code.line(`${code.helper(helper)}(&${code.memoryName(barrier)}[${index.text}], ${more});`);
}
