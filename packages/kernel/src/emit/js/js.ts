/**
 * Emits a kernel as a plain JavaScript module: `run({ workgroups, args })` on typed arrays, one workgroup after the
 * other. Made for reading and for checking other devices; the `cpu` device is the fast one. Invocations that never wait
 * for each other run in a loop; otherwise each is a generator that suspends where it must wait.
 */

import type { AtomicNode } from "../../ir/nodes.ts";
import { atomicFunctions } from "../atomics.ts";
import type { Code } from "../core/code.ts";
import { copiesAtOnce, noPhaseBarriers } from "../core/defaults.ts";
import { atom, call, infix, simple, type Expression, type Operand } from "../core/expression.ts";
import { builtinName } from "../core/names.ts";
import type { ControlFlow, Target, TargetDefinition } from "../core/target.ts";
import { subgroupOperations } from "../subgroups.ts";
import { jsEntry } from "./entry.ts";
import { jsLanguage } from "./language.ts";
import { jsMemory } from "./memory.ts";
import { jsOperations } from "./operations.ts";
import { Places } from "./places.ts";

export const js: TargetDefinition = {
  name: "js",
  language: () => jsLanguage,
  target,
};

function target(code: Code): Target {
  const places = new Places(code.ir);
  /** Lanes of a subgroup stop at a place, and go on together or let other subgroups have a turn. */
  const meet = (place: number, operation: "together" | "spin"): void =>
    code.line(`yield [${place}, ${code.helper(operation)}];`);
  const barrier = (): void => code.line("yield BARRIER;");
  const memory = jsMemory(code, barrier);
  return {
    inputs: { parameter: simple, builtin: (builtin) => simple(builtinName(builtin)) },
    operations: jsOperations,
    memory,
    flow: flow(places, meet),
    barriers: { workgroup: barrier, subgroup: (node) => meet(places.of(node), "together") },
    copies: copiesAtOnce(code, memory, null),
    phaseBarriers: noPhaseBarriers(code),
    atomic: (node, index, operands) => atomic(code, node, index, operands),
    subgroup: (node, operands) =>
      subgroupOperations[node.op].js({ code, node, operands, place: places.of(node) }),
    entry: jsEntry(code, places.any),
  };
}

const flow = (
  places: Places,
  meet: (place: number, operation: "together" | "spin") => void,
): ControlFlow => ({
  endless: "while (true) {",
  forHeader({ node, name, from, to, step, passesEnd }) {
    const test = infix(node.direction === "up" ? "<" : ">", simple(name), to);
    const next = infix("+", simple(name), step);
    const nearest = node.direction === "up" ? "Math.min" : "Math.max";
    const advanced = passesEnd ? `${name} = ${call(nearest, next, to).text}` : `${name} += ${step.text}`;
    return `for (let ${name} = ${from.text}; ${test.text}; ${advanced})`;
  },
  beginCondition(node) {
    if (places.meetsAt(node)) meet(places.turn(node), "together");
  },
  beginLoopBody(node) {
    if (node.kind === "for" && places.meetsAt(node)) meet(places.turn(node), "together");
    if (places.spins(node)) meet(places.turn(node), "spin");
  },
  afterControl(node) {
    // Lockstep: no lane goes on from a wait before all have seen what they wait for.
    if (places.meetsAt(node) || places.spins(node)) meet(places.exit(node), "together");
  },
});

function atomic(
  code: Code,
  { op, memory }: AtomicNode,
  index: Operand,
  operands: readonly Operand[],
): Expression {
  const name = atomicFunctions[op].js;
  if (name !== null) return call(code.helper(name), simple(code.memoryName(memory)), index, ...operands);
  const element = code.element(memory, index);
  const [value] = operands;
  return value === undefined ? element : atom(`${element.text} = ${value.text}`);
}
