/** Parts for targets that lack something: synchronous copies, loads by all invocations instead of one, refusals. */

import { EvolverError } from "@evolver/base";
import type { AsyncCopyNode, Node } from "../../ir/nodes.ts";
import type { Code } from "./code.ts";
import { parenthesised, type Expression, type Operand } from "./expression.ts";
import type { Copies, CopyCall, MemoryAccess, PhaseBarrierCalls } from "./target.ts";

/** What a copy asks for, in the lowering report. */
export const copyRequest = ({ from, to, width }: AsyncCopyNode): string =>
  `asynchronous copy of ${width} consecutive ${from.element} of ${from.name} to ${to.name}`;

/** One of two values without a branch. */
export type Choose = (condition: Expression, value: Expression, otherwise: Expression) => Expression;

/**
 * Copies as a load and a store of the same width, at the place where they are started.
 *
 * @param choose selects between two values without a branch, for copies that may be inactive; null to use a branch
 */
export function copiesAtOnce(code: Code, memory: MemoryAccess, choose: Choose | null): Copies {
  const zero = ({ to }: AsyncCopyNode): Expression => code.literal(to.element, 0);
  const store = ({ to }: AsyncCopyNode, index: Operand, parts: readonly Expression[]): void => {
    const values = parts.map((part) => ({ ...part, type: to.element, constant: null }));
    if (values.length > 1) memory.storeMany(to, index, values);
    else memory.store(to, index, values[0] as Operand);
  };
  const load = ({ from, width }: AsyncCopyNode, index: Operand): readonly Expression[] =>
    width === 1 ? [memory.load(from, index)] : memory.loadMany(from, index, width);
  /** What is read where nothing is to be copied, the first element, is not used. */
  const copyChosen = ({ node, to, from }: CopyCall, active: Operand, either: Choose): void => {
    const condition = code.bind(active, "bool", "condition");
    const source = code.bind(either(condition, from, code.literal("u32", 0)), "u32", "source");
    const parts = load(node, { ...from, ...source });
    store(
      node,
      to,
      parts.map((part) => either(condition, part, zero(node))),
    );
  };
  const copyInBranch = ({ node, to, from }: CopyCall, active: Operand): void => {
    const target = { ...to, ...code.bind(to, to.type, "offset") };
    code.line(`if ${parenthesised(active)} {`);
    code.nested(() => store(node, target, load(node, from)));
    code.line("} else {");
    code.nested(() =>
      store(
        node,
        target,
        Array.from({ length: node.width }, () => zero(node)),
      ),
    );
    code.line("}");
  };
  return {
    start(copy) {
      const { node, to, from, active } = copy;
      code.note(copyRequest(node), "plain copy", true);
      if (active === null) store(node, to, load(node, from));
      else if (choose === null) copyInBranch(copy, active);
      else copyChosen(copy, active, choose);
    },
    ...nothingInFlight,
  };
}

/** For synchronous copies: there is nothing to commit or to wait for. */
export const nothingInFlight: Omit<Copies, "start"> = { commit() {}, await() {} };

/** A uniform load as a load by all invocations at one address, between barriers. */
export const uniformLoadByAll =
  (code: Code, load: MemoryAccess["load"], barrier: () => void): MemoryAccess["uniformLoad"] =>
  (memory, index) => {
    const stable = { ...index, ...code.bind(index, index.type, "offset") };
    barrier();
    const value = code.bind(load(memory, stable), memory.element, `${memory.name}Value`);
    barrier();
    return value;
  };

/** For targets whose subgroups cannot wait for each other. */
export function noPhaseBarriers(code: Code): PhaseBarrierCalls {
  const refuse = (node: Node): never => {
    throw new EvolverError(
      "FORWARD_PROGRESS_UNAVAILABLE",
      `kernel "${code.ir.name}" has phase barriers, and subgroups on this target cannot wait for each other`,
      { where: [node.site.location], hint: "build it with { forwardProgress: false }" },
    );
  };
  return { arrive: refuse, await: refuse };
}
