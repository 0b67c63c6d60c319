/**
 * The part of the verifier that looks at one node's operands and results: their number, their types, and whether
 * the memory allows what the node does. Scopes and definitions are checked in verify.ts; copies and barriers in
 * synchronisation.ts.
 */

import { builtins } from "../ir/builtins.ts";
import type {
  AtomicNode,
  ConstNode,
  KernelIR,
  LoadNode,
  Node,
  StoreNode,
  SubgroupNode,
} from "../ir/nodes.ts";
import { ops } from "../ir/ops.ts";
import { subgroupResults } from "../ir/subgroup.ts";
import type { Fail } from "./invalid.ts";
import { checkFullSubgroups, checkSynchronisation } from "./synchronisation.ts";
import {
  elementBytes,
  isFloat,
  isInteger,
  scalarTypes,
  variableTypes,
  type ScalarType,
  type Value,
} from "../ir/types.ts";
import { assertNever } from "@evolver/base";
import { atomicOps, type AtomicRow } from "../ir/atomics.ts";

const typesOf = (values: readonly Value[]): ScalarType[] => values.map((value) => value.type);
const list = (types: readonly ScalarType[]): string => `(${types.join(", ")})`;

/** Checks what the rows of schema.ts cannot say of a node; that its operands are defined is known. */
export function checkOperands(node: Node, ir: KernelIR, fail: Fail): void {
  switch (node.kind) {
    case "const":
      return checkConst(node, fail);
    case "param": {
      const param = ir.params.find(({ name }) => name === node.name);
      if (param?.kind !== "scalar") return fail("reads a parameter that is not a scalar");
      if (param.type !== node.result.type)
        fail(`gives ${node.result.type}, but the parameter is ${param.type}`);
      return;
    }
    case "builtin":
      if (!Object.hasOwn(builtins, node.builtin)) fail("is unknown");
      if (node.result.type !== "u32") fail(`gives ${node.result.type}, not u32`);
      return;
    case "op": {
      if (!Object.hasOwn(ops, node.op)) return fail("is an unknown operation");
      const types = typesOf(node.operands);
      const result = ops[node.op].signature(types);
      if (result === null) return fail(`does not take ${list(types)}`);
      if (result !== node.result.type) fail(`of ${list(types)} gives ${result}, not ${node.result.type}`);
      return;
    }
    case "load":
      return checkAccess(node, node.results, fail);
    case "store":
      return checkAccess(node, node.values, fail);
    case "atomic":
      return checkAtomic(node, fail);
    case "uniformLoad":
      if (node.memory.space !== "shared") fail("reads memory that is not shared");
      if (node.memory.atomic) fail("is not atomic, but the memory is");
      if (node.result.type !== node.memory.element)
        fail(`gives ${node.result.type}, but the elements are ${node.memory.element}`);
      return;
    case "subgroup":
      return checkSubgroup(node, ir, fail);
    case "barrier":
    case "asyncCopy":
    case "commitCopies":
    case "awaitCopies":
    case "arrive":
    case "awaitPhase":
      return checkSynchronisation(node, ir, fail);
    case "var":
      if (!variableTypes.includes(node.variable.type))
        fail(`cannot be of type ${String(node.variable.type)}`);
      if (node.init !== null && node.init.type !== node.variable.type)
        fail(`starts with ${node.init.type}, but the variable is ${node.variable.type}`);
      return;
    case "varGet":
      if (node.result.type !== node.variable.type)
        fail(`gives ${node.result.type}, but the variable is ${node.variable.type}`);
      return;
    case "varSet":
      if (node.value.type !== node.variable.type)
        fail(`sets ${node.value.type}, but the variable is ${node.variable.type}`);
      return;
    case "for": {
      const types = typesOf([node.induction, node.from, node.to, node.step]);
      if (!isInteger(node.induction.type) || types.some((type) => type !== node.induction.type))
        fail(`needs induction, from, to and step of one integer type, and has ${list(types)}`);
      return;
    }
    case "if":
    case "while":
    case "break":
    case "continue":
    case "roles":
    case "comment":
    case "trace":
      return;
    default:
      assertNever(node, "kind of node");
  }
}

function checkAccess(node: LoadNode | StoreNode, values: readonly Value[], fail: Fail): void {
  const { memory } = node;
  if (![1, 2, 4, 8].includes(values.length))
    fail(`has width ${values.length}; widths are 1, 2 and 4, and 8 of two-byte elements`);
  if (values.length === 8 && elementBytes(memory.element) !== 2)
    fail(`has width 8, but the elements are ${memory.element}; only two-byte elements are moved by 8`);
  for (const { type } of values)
    if (type !== memory.element) fail(`moves ${type}, but the elements are ${memory.element}`);
  if (memory.atomic) fail("is not atomic, but the memory is");
  if (memory.space === "global" && memory.access === (node.kind === "load" ? "write" : "read"))
    fail(`is against the buffer's access, ${memory.access}`);
}

function checkConst({ result, value }: ConstNode, fail: Fail): void {
  const { type } = result;
  if (!Object.hasOwn(scalarTypes, type) || !Object.is(scalarTypes[type].literal(value), value))
    fail(`is not an exact ${type} value`);
}

function checkAtomic(node: AtomicNode, fail: Fail): void {
  const { op, memory, operands, result, order } = node;
  const { element } = memory;
  if (!Object.hasOwn(atomicOps, op)) return fail("is an unknown operation");
  const row: AtomicRow = atomicOps[op];
  if (!memory.atomic) fail("is atomic, but the memory is not");
  if (isFloat(element) && !row.floats) fail(`does not exist for ${element}`);
  if (operands.length !== row.operands) fail(`has ${operands.length} operands, not ${row.operands}`);
  for (const { type } of operands)
    if (type !== element) fail(`takes ${type}, but the elements are ${element}`);
  if ((result === null) !== (row.access === "write"))
    fail(result === null ? "has no result" : "has a result, which a store does not give");
  if (result !== null && result.type !== element)
    fail(`gives ${result.type}, but the elements are ${element}`);
  if (!["relaxed", "acquire", "release", "acq_rel"].includes(order)) fail(`has order "${String(order)}"`);
  if (row.access === "read" && (order === "release" || order === "acq_rel"))
    fail(`cannot be ${order}: it writes nothing`);
  if (row.access === "write" && (order === "acquire" || order === "acq_rel"))
    fail(`cannot be ${order}: it reads nothing`);
}

function checkSubgroup(node: SubgroupNode, ir: KernelIR, fail: Fail): void {
  const { subgroupSize: width } = ir;
  checkFullSubgroups(ir, fail);
  const operands = list(typesOf(node.operands));
  const expected = subgroupResults(node.op, typesOf(node.operands), width);
  if (expected === null) return fail(`does not take ${operands}, or is unknown`);
  const results = list(typesOf(node.results));
  if (results !== list(expected)) fail(`gives ${list(expected)}, not ${results}`);
}
