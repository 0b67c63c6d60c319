/**
 * Questions about any node that need no switch over its kind: the values it uses and defines, the memory it accesses, the
 * blocks inside it. All answers follow from the rows of schema.ts. The IR need not be valid, but the kinds of its nodes must
 * exist.
 */

import type { DefinitionShape, FieldShape, MemoryShape, UseShape, VariableShape } from "./fields.ts";
import type { Block, KernelIR, Node, NodeKind } from "./nodes.ts";
import { fieldsOf, rowOf, schema } from "./schema.ts";
import type { Access, Memory, PhaseBarrier, Value, Variable } from "./types.ts";

/** A memory that a node reads or writes. */
export interface MemoryAccess {
  readonly memory: Memory;
  readonly access: Access;
}

/** A variable that a node declares, reads or writes. */
export interface VariableAccess {
  readonly variable: Variable;
  readonly does: "declare" | "read" | "write";
}

type ByKind<F> = Readonly<Record<NodeKind, F>>;
type Seen = (held: unknown, shape: FieldShape) => void;

/** Shows everything below a field whose shape is wanted, in order. */
function look(shape: FieldShape, holds: unknown, wanted: (shape: FieldShape) => boolean, see: Seen): void {
  if (wanted(shape)) see(holds, shape);
  else if (shape.role === "list") for (const item of holds as unknown[]) look(shape.of, item, wanted, see);
  else if (shape.role === "optional") {
    if (holds !== null) look(shape.of, holds, wanted, see);
  } else if (shape.role === "record") {
    for (const [name, inner] of Object.entries(shape.fields))
      look(inner, (holds as Record<string, unknown>)[name], wanted, see);
  }
}

function contains(shape: FieldShape, wanted: (shape: FieldShape) => boolean): boolean {
  if (wanted(shape)) return true;
  if (shape.role === "list" || shape.role === "optional") return contains(shape.of, wanted);
  return shape.role === "record" && Object.values(shape.fields).some((inner) => contains(inner, wanted));
}

const NOTHING: readonly never[] = Object.freeze([]);

type Named = readonly [name: string, shape: FieldShape];

/** By kind, the fields that are or hold what is wanted. */
function fieldsWith(kind: NodeKind, wanted: (shape: FieldShape) => boolean): Named[] {
  return fieldsOf(kind).filter(([, shape]) => contains(shape, wanted));
}

const held = (node: Node, name: string): unknown => (node as unknown as Record<string, unknown>)[name];

function byKind<F>(make: (kind: NodeKind) => F): ByKind<F> {
  const kinds = Object.keys(schema) as NodeKind[];
  return Object.fromEntries(kinds.map((kind) => [kind, make(kind)])) as Record<NodeKind, F>;
}

/** What the wanted fields of a node hold. Walks ask this of every node, so the simple cases copy nothing. */
function allHeld<T>(wanted: (shape: FieldShape) => boolean): ByKind<(node: Node) => readonly T[]> {
  return byKind<(node: Node) => readonly T[]>((kind) => {
    const fields = fieldsWith(kind, wanted);
    if (fields.length === 0) return () => NOTHING;
    const [name, shape] = fields[0] as Named;
    if (fields.length === 1 && wanted(shape)) return (node) => [held(node, name) as T];
    if (fields.length === 1 && shape.role === "list" && wanted(shape.of))
      return (node) => held(node, name) as readonly T[];
    return (node) => {
      const found: T[] = [];
      for (const [field, inner] of fields)
        look(inner, held(node, field), wanted, (holds) => found.push(holds as T));
      return found;
    };
  });
}

/** What is made of each wanted field of a node, by what the field holds and by its shape. */
function allMade<T, H, S extends FieldShape>(
  wanted: (shape: FieldShape) => boolean,
  make: (holds: H, shape: S, node: Node) => T,
): ByKind<(node: Node) => readonly T[]> {
  return byKind<(node: Node) => readonly T[]>((kind) => {
    const fields = fieldsWith(kind, wanted);
    if (fields.length === 0) return () => NOTHING;
    return (node) => {
      const made: T[] = [];
      for (const [name, shape] of fields)
        look(shape, held(node, name), wanted, (holds, inner) =>
          made.push(make(holds as H, inner as S, node)),
        );
      return made;
    };
  });
}

const isUse = (shape: FieldShape): shape is UseShape => shape.role === "use";
const isDefinition = (shape: FieldShape): shape is DefinitionShape => shape.role === "definition";

const operands = allHeld<Value>(isUse);
const operandsHere = allHeld<Value>((shape) => isUse(shape) && shape.endOf === null);
const lateOperands = allMade(
  (shape) => isUse(shape) && shape.endOf !== null,
  (value: Value, { endOf }: UseShape, node) => ({ value, block: held(node, endOf as string) }),
);
const useFields = byKind((kind) => fieldsWith(kind, isUse));
const results = allHeld<Value>(isDefinition);
const resultsHere = allHeld<Value>((shape) => isDefinition(shape) && shape.startOf === null);
const blocks = allHeld<Block>(({ role }) => role === "block");
const memories = allMade(
  ({ role }) => role === "memory",
  (memory: Memory, { access }: MemoryShape, node): MemoryAccess => ({
    memory,
    access: typeof access === "string" ? access : (access[(node as { readonly op: string }).op] as Access),
  }),
);
const phaseBarriers = allHeld<PhaseBarrier>(({ role }) => role === "phaseBarrier");
const variables = allMade(
  ({ role }) => role === "variable",
  (variable: Variable, { does }: VariableShape): VariableAccess => ({ variable, does }),
);

/** The values that a node itself uses, not those that its blocks use; the test of a `while` counts. */
export const operandsOf = (node: Node): readonly Value[] => operands[node.kind](node);

/** The values that a node uses where it stands: all operands but those that `operandsAtEndOf` gives. */
export const operandsOnEntry = (node: Node): readonly Value[] => operandsHere[node.kind](node);

/** The values that a node uses whenever one of its blocks has run: the test of a `while`, after its condition. */
export function operandsAtEndOf(node: Node, block: Block): readonly Value[] {
  const late = lateOperands[node.kind](node);
  return late.length === 0 ? NOTHING : late.flatMap((one) => (one.block === block ? [one.value] : []));
}

/** Shows each operand with the word for it and the types that it may have. */
export function seeUses(node: Node, see: (value: Value, shape: UseShape) => void): void {
  for (const [name, shape] of useFields[node.kind]) {
    const holds = held(node, name);
    if (shape.role === "use") see(holds as Value, shape);
    else if (shape.role === "list" && shape.of.role === "use")
      for (const value of holds as readonly Value[]) see(value, shape.of);
    else look(shape, holds, isUse, see as Seen);
  }
}

/** The values that a node defines; a loop's induction value counts. */
export const resultsOf = (node: Node): readonly Value[] => results[node.kind](node);

/** The values that a node defines for what follows it: not a loop's induction value, which only its body has. */
export const resultsHereOf = (node: Node): readonly Value[] => resultsHere[node.kind](node);

/** The blocks nested directly in a node, in the order in which they stand. */
export const blocksOf = (node: Node): readonly Block[] => blocks[node.kind](node);

/** The memories that a node itself touches, and what it does with each. */
export const memoriesOf = (node: Node): readonly MemoryAccess[] => memories[node.kind](node);

/** The phase barriers that a node itself touches. */
export const phaseBarriersOf = (node: Node): readonly PhaseBarrier[] => phaseBarriers[node.kind](node);

/** The variables that a node itself declares, reads or writes. */
export const variablesOf = (node: Node): readonly VariableAccess[] => variables[node.kind](node);

/** Whether a node may be removed if its values are not used. */
export const isRemovable = (node: Node): boolean => rowOf(node).effect === "none";

/** Calls `visit` for each node in program order, outer nodes before those nested in them. */
export function visitNodes(block: Block, visit: (node: Node) => void): void {
  for (const node of block.nodes) {
    visit(node);
    for (const inner of blocksOf(node)) visitNodes(inner, visit);
  }
}

/** The node that defines a value, or undefined. Slow (a walk): for messages only. */
export function findDefinition(ir: KernelIR, id: number): Node | undefined {
  let found: Node | undefined;
  visitNodes(ir.body, (node) => {
    if (found === undefined && resultsOf(node).some((value) => value.id === id)) found = node;
  });
  return found;
}

/** A short name of a node for messages: "op add", "load of x", "if". */
export const describeNode = (node: Node): string =>
  Object.hasOwn(schema, node.kind) ? rowOf(node).describe(node) : String(node.kind);
