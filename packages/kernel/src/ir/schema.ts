/**
 * The kinds of nodes: one row each. From a row follow what the node uses and defines, the memory it touches, the blocks
 * inside it, how it is checked, walked, written as JSON and named in messages. What a node means stands at its interface
 * in nodes.ts; how it is run and emitted is not here.
 */

import { atomicAccess, type AtomicOp } from "./atomics.ts";
import {
  block,
  branch,
  choice,
  count,
  definition,
  definitionAtStartOf,
  list,
  literal,
  memory,
  numberOrFlag,
  optional,
  phaseBarrier,
  record,
  text,
  use,
  useAtEndOf,
  variable,
  type Fields,
  type FieldShape,
} from "./fields.ts";
import type { ControlNode, Node, NodeKind, PlainNode, Role } from "./nodes.ts";
import type {
  GlobalMemory,
  Memory,
  PhaseBarrier,
  ScalarType,
  SharedMemory,
  Value,
  Variable,
} from "./types.ts";

/**
 * What a node does besides defining values: nothing, so that it may be removed where its values are not used; it changes
 * memory or a variable; it orders invocations; it decides which nodes run; or it is only a comment for readers.
 */
export type Effect = "none" | "write" | "order" | "control" | "comment";

/** The invocations that must reach a node together. */
export type Convergence = "none" | "subgroup" | "workgroup";

/** How a node's values and places are written in printed IR. */
export interface Shown {
  value(value: Value): string;
  list(values: readonly Value[]): string;
  element(memory: Memory | PhaseBarrier, index: Value): string;
  variable(variable: Variable): string;
  /** The name of a variable from here on. */
  declare(variable: Variable): string;
}

export interface NodeRow<N extends Node> {
  /** In the order of the JSON form, which has no limits. */
  readonly fields: Fields<Omit<N, "kind" | "site" | "limits">>;
  readonly effect: N extends ControlNode ? "control" : Exclude<Effect, "control">;
  convergence(node: N): Convergence;
  /** A short name for messages: "op add", "load of x". */
  describe(node: N): string;
}

export interface PlainRow<N extends PlainNode> extends NodeRow<N> {
  /** What stands in printed IR behind the results. */
  print(node: N, shown: Shown): string;
}

type RowOf<N extends Node> = N extends PlainNode ? PlainRow<N> : NodeRow<N>;

export type Schema = { readonly [K in NodeKind]: RowOf<Extract<Node, { readonly kind: K }>> };

const BOOL: readonly ScalarType[] = ["bool"];
const WORD: readonly ScalarType[] = ["u32"];
const INDEX: readonly ScalarType[] = ["i32", "u32", "index"];

const anywhere = (): Convergence => "none";
/** A literal with the sign of zero. */
export const literalText = (value: number | boolean): string => (Object.is(value, -0) ? "-0" : String(value));

const itsKind = ({ kind }: Node): string => kind;

export const schema: Schema = {
  const: {
    fields: { result: definition(), value: literal() },
    effect: "none",
    convergence: anywhere,
    describe: ({ value }) => `const ${String(value)}`,
    print: ({ value }) => `const ${literalText(value)}`,
  },
  param: {
    fields: { result: definition(), name: text() },
    effect: "none",
    convergence: anywhere,
    describe: ({ name }) => `param ${name}`,
    print: ({ name }) => `param ${name}`,
  },
  builtin: {
    fields: { result: definition(), builtin: text() },
    effect: "none",
    convergence: anywhere,
    describe: ({ builtin }) => `builtin ${builtin}`,
    print: ({ builtin }) => builtin,
  },
  op: {
    fields: { op: text(), operands: list(use("operand")), result: definition() },
    effect: "none",
    convergence: anywhere,
    describe: ({ op }) => `op ${op}`,
    print: (node, shown) => `${node.op} ${shown.list(node.operands)}`,
  },
  load: {
    fields: { memory: memory<Memory>("read"), index: use("index", INDEX), results: list(definition()) },
    effect: "none",
    convergence: anywhere,
    describe: (node) => `load of ${node.memory.name}`,
    print: (node, shown) => `load ${shown.element(node.memory, node.index)}`,
  },
  store: {
    fields: { memory: memory<Memory>("write"), index: use("index", INDEX), values: list(use("value")) },
    effect: "write",
    convergence: anywhere,
    describe: (node) => `store to ${node.memory.name}`,
    print: (node, shown) => `store ${shown.element(node.memory, node.index)} = ${shown.list(node.values)}`,
  },
  atomic: {
    fields: {
      op: text<AtomicOp>(),
      memory: memory<Memory>(atomicAccess),
      index: use("index", INDEX),
      operands: list(use("operand")),
      result: optional(definition()),
      order: text(),
    },
    effect: "write",
    convergence: anywhere,
    describe: (node) => `atomic ${node.op} on ${node.memory.name}`,
    print: ({ op, memory: touched, index, operands, order }, shown) => {
      const given = operands.length > 0 ? ` ${shown.list(operands)}` : "";
      return `atomic ${op} ${shown.element(touched, index)}${given}${order === "relaxed" ? "" : ` ${order}`}`;
    },
  },
  var: {
    fields: { variable: variable("declare"), init: optional(use("init")) },
    effect: "write",
    convergence: anywhere,
    describe: (node) => `var of ${node.variable.name}`,
    print: (node, shown) => {
      const init = node.init === null ? "" : ` = ${shown.value(node.init)}`;
      return `var ${shown.declare(node.variable)}: ${node.variable.type}${init}`;
    },
  },
  varGet: {
    fields: { variable: variable("read"), result: definition() },
    effect: "none",
    convergence: anywhere,
    describe: (node) => `varGet of ${node.variable.name}`,
    print: (node, shown) => `get ${shown.variable(node.variable)}`,
  },
  varSet: {
    fields: { variable: variable("write"), value: use("value") },
    effect: "write",
    convergence: anywhere,
    describe: (node) => `varSet of ${node.variable.name}`,
    print: (node, shown) => `set ${shown.variable(node.variable)} = ${shown.value(node.value)}`,
  },
  if: {
    fields: { condition: use("condition", BOOL), then: branch(0), else: branch(1) },
    effect: "control",
    convergence: anywhere,
    describe: itsKind,
  },
  for: {
    fields: {
      induction: definitionAtStartOf("body"),
      from: use("from"),
      to: use("to"),
      step: use("step"),
      direction: choice("up", "down"),
      unroll: numberOrFlag(),
      body: block(),
    },
    effect: "control",
    convergence: anywhere,
    describe: itsKind,
  },
  while: {
    fields: { condition: block(), test: useAtEndOf("condition", "test", BOOL), body: block() },
    effect: "control",
    convergence: anywhere,
    describe: itsKind,
  },
  break: { fields: {}, effect: "control", convergence: anywhere, describe: itsKind },
  continue: { fields: {}, effect: "control", convergence: anywhere, describe: itsKind },
  roles: {
    fields: { roles: list(record<Role>({ name: text(), first: count(), count: count(), body: block() })) },
    effect: "control",
    convergence: anywhere,
    describe: itsKind,
  },
  barrier: {
    fields: { scope: choice("workgroup", "subgroup") },
    effect: "order",
    convergence: ({ scope }) => scope,
    describe: ({ scope }) => (scope === "subgroup" ? "subgroup barrier" : "barrier"),
    print: ({ scope }) => (scope === "workgroup" ? "barrier" : `barrier ${scope}`),
  },
  asyncCopy: {
    fields: {
      from: memory<GlobalMemory>("read"),
      fromIndex: use("index", INDEX),
      to: memory<SharedMemory>("write"),
      toIndex: use("index", INDEX),
      width: count(),
      active: optional(use("condition", BOOL)),
    },
    effect: "write",
    convergence: anywhere,
    describe: ({ from, to }) => `asyncCopy from ${from.name} to ${to.name}`,
    print: ({ to, toIndex, from, fromIndex, width, active }, shown) => {
      const condition = active === null ? "" : ` active ${shown.value(active)}`;
      return `copy ${shown.element(to, toIndex)} = ${shown.element(from, fromIndex)} width ${width}${condition}`;
    },
  },
  commitCopies: {
    fields: { bytes: optional(count<number>()) },
    effect: "order",
    convergence: anywhere,
    describe: itsKind,
    print: ({ bytes }) => `commit${bytes === null ? "" : ` ${bytes} bytes`}`,
  },
  awaitCopies: {
    fields: { newer: count() },
    effect: "order",
    convergence: anywhere,
    describe: itsKind,
    print: ({ newer }) => `await newer ${newer}`,
  },
  arrive: {
    fields: { barrier: phaseBarrier(), index: use("index", WORD), after: choice("now", "copies") },
    effect: "order",
    convergence: anywhere,
    describe: ({ barrier }) => `arrive at ${barrier.name}`,
    print: ({ barrier, index, after }, shown) =>
      `arrive ${shown.element(barrier, index)}${after === "now" ? "" : ` after ${after}`}`,
  },
  awaitPhase: {
    fields: { barrier: phaseBarrier(), index: use("index", WORD), parity: use("parity", WORD) },
    effect: "order",
    convergence: anywhere,
    describe: ({ barrier }) => `awaitPhase of ${barrier.name}`,
    print: ({ barrier, index, parity }, shown) =>
      `wait ${shown.element(barrier, index)} parity ${shown.value(parity)}`,
  },
  uniformLoad: {
    fields: { memory: memory<SharedMemory>("read"), index: use("index", INDEX), result: definition() },
    effect: "order",
    convergence: () => "workgroup",
    describe: (node) => `uniformLoad of ${node.memory.name}`,
    print: (node, shown) => `uniformLoad ${shown.element(node.memory, node.index)}`,
  },
  subgroup: {
    fields: { op: text(), operands: list(use("operand")), results: list(definition()) },
    effect: "none",
    convergence: () => "subgroup",
    describe: ({ op }) => `subgroup ${op}`,
    print: (node, shown) => `subgroup.${node.op} ${shown.list(node.operands)}`,
  },
  comment: {
    fields: { text: text() },
    effect: "comment",
    convergence: anywhere,
    describe: itsKind,
    print: (node) => `// ${node.text.replaceAll("\n", " ")}`,
  },
  trace: {
    fields: { label: text(), values: list(use("value")) },
    effect: "comment",
    convergence: anywhere,
    describe: ({ label }) => `trace ${label}`,
    print: ({ label, values }, shown) => `trace ${JSON.stringify(label)} ${shown.list(values)}`,
  },
};

const fieldLists = new Map(
  Object.entries(schema).map(([kind, { fields }]) => [kind, Object.entries<FieldShape>(fields)] as const),
);

/** The fields of a kind of node beside `kind` and `site`, in the order of its row. */
export const fieldsOf = (kind: NodeKind): readonly (readonly [name: string, shape: FieldShape])[] =>
  fieldLists.get(kind) ?? [];

/** The row of a node's kind. */
export const rowOf = (node: Node): NodeRow<Node> => schema[node.kind] as NodeRow<Node>;

export const isControl = (node: Node): node is ControlNode => rowOf(node).effect === "control";

/** How a plain node is printed, without its results. */
export const printPlain = (node: PlainNode, shown: Shown): string =>
  (schema[node.kind] as PlainRow<PlainNode>).print(node, shown);
