/**
 * The kinds of nodes: one row each. From a row follow what the node uses and defines, the memory it touches, the blocks
 * inside it, how it is checked, walked, written as JSON and named in messages. What a node means stands at its interface
 * in nodes.ts; how it is printed, run and emitted is not here.
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
import type { Node, NodeKind, Role } from "./nodes.ts";
import type { GlobalMemory, Memory, ScalarType, SharedMemory } from "./types.ts";

/**
 * What a node does beside giving values: nothing, so that it may be left out where nobody wants them; it changes memory
 * or a variable; it orders what invocations do; it decides which nodes run; or it is there for readers only.
 */
export type Effect = "none" | "write" | "order" | "control" | "comment";

/** The invocations that must reach a node together. */
export type Convergence = "none" | "subgroup" | "workgroup";

export interface NodeRow<N extends Node> {
  /** In the order of the JSON form. */
  readonly fields: Fields<Omit<N, "kind" | "site">>;
  readonly effect: Effect;
  convergence(node: N): Convergence;
  /** A short name for messages: "op add", "load of x". */
  describe(node: N): string;
}

export type Schema = { readonly [K in NodeKind]: NodeRow<Extract<Node, { readonly kind: K }>> };

const BOOL: readonly ScalarType[] = ["bool"];
const WORD: readonly ScalarType[] = ["u32"];
const INDEX: readonly ScalarType[] = ["i32", "u32", "index"];

const anywhere = (): Convergence => "none";
const itsKind = ({ kind }: Node): string => kind;

export const schema: Schema = {
  const: {
    fields: { result: definition(), value: literal() },
    effect: "none",
    convergence: anywhere,
    describe: ({ value }) => `const ${String(value)}`,
  },
  param: {
    fields: { result: definition(), name: text() },
    effect: "none",
    convergence: anywhere,
    describe: ({ name }) => `param ${name}`,
  },
  builtin: {
    fields: { result: definition(), builtin: text() },
    effect: "none",
    convergence: anywhere,
    describe: ({ builtin }) => `builtin ${builtin}`,
  },
  op: {
    fields: { op: text(), operands: list(use("operand")), result: definition() },
    effect: "none",
    convergence: anywhere,
    describe: ({ op }) => `op ${op}`,
  },
  load: {
    fields: { memory: memory<Memory>("read"), index: use("index", INDEX), results: list(definition()) },
    effect: "none",
    convergence: anywhere,
    describe: (node) => `load of ${node.memory.name}`,
  },
  store: {
    fields: { memory: memory<Memory>("write"), index: use("index", INDEX), values: list(use("value")) },
    effect: "write",
    convergence: anywhere,
    describe: (node) => `store to ${node.memory.name}`,
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
  },
  var: {
    fields: { variable: variable("declare"), init: optional(use("init")) },
    effect: "write",
    convergence: anywhere,
    describe: (node) => `var of ${node.variable.name}`,
  },
  varGet: {
    fields: { variable: variable("read"), result: definition() },
    effect: "none",
    convergence: anywhere,
    describe: (node) => `varGet of ${node.variable.name}`,
  },
  varSet: {
    fields: { variable: variable("write"), value: use("value") },
    effect: "write",
    convergence: anywhere,
    describe: (node) => `varSet of ${node.variable.name}`,
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
  },
  commitCopies: {
    fields: { bytes: optional(count<number>()) },
    effect: "order",
    convergence: anywhere,
    describe: itsKind,
  },
  awaitCopies: { fields: { newer: count() }, effect: "order", convergence: anywhere, describe: itsKind },
  arrive: {
    fields: { barrier: phaseBarrier(), index: use("index", WORD), after: choice("now", "copies") },
    effect: "order",
    convergence: anywhere,
    describe: ({ barrier }) => `arrive at ${barrier.name}`,
  },
  awaitPhase: {
    fields: { barrier: phaseBarrier(), index: use("index", WORD), parity: use("parity", WORD) },
    effect: "order",
    convergence: anywhere,
    describe: ({ barrier }) => `awaitPhase of ${barrier.name}`,
  },
  uniformLoad: {
    fields: { memory: memory<SharedMemory>("read"), index: use("index", INDEX), result: definition() },
    effect: "order",
    convergence: () => "workgroup",
    describe: (node) => `uniformLoad of ${node.memory.name}`,
  },
  subgroup: {
    fields: { op: text(), operands: list(use("operand")), results: list(definition()) },
    effect: "none",
    convergence: () => "subgroup",
    describe: ({ op }) => `subgroup ${op}`,
  },
  comment: { fields: { text: text() }, effect: "comment", convergence: anywhere, describe: itsKind },
};

const fieldLists = new Map(
  Object.entries(schema).map(([kind, { fields }]) => [kind, Object.entries<FieldShape>(fields)] as const),
);

/** The fields of a kind of node beside `kind` and `site`, in the order of its row. */
export const fieldsOf = (kind: NodeKind): readonly (readonly [name: string, shape: FieldShape])[] =>
  fieldLists.get(kind) ?? [];

/** The row of a node's kind. */
export const rowOf = (node: Node): NodeRow<Node> => schema[node.kind] as NodeRow<Node>;
