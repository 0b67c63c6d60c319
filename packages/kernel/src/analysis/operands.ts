/**
 * The part of the verifier that looks at one node's operands and results: their number, their types, and whether
 * the memory allows what the node does. Scopes and definitions are verify.ts's; copies and barriers are in
 * synchronisation.ts.
 */

import type { AtomicNode, BuiltinName, ConstNode, KernelIR, Node, SubgroupNode } from "../ir/nodes.ts";
import { ops } from "../ir/ops.ts";
import { subgroupResults } from "../ir/subgroup.ts";
import { roundBF16, roundF16 } from "../math.ts";
import type { OperandChecks } from "./invalid.ts";
import { checkFullSubgroups, checkSynchronisation } from "./synchronisation.ts";
import { elementBytes, isFloat, isInteger, type ScalarType, type Value } from "../ir/types.ts";

const BUILTINS: ReadonlySet<string> = new Set<BuiltinName>([
  "workgroupId.x",
  "workgroupId.y",
  "workgroupId.z",
  "localId.x",
  "localId.y",
  "localId.z",
  "globalId.x",
  "globalId.y",
  "globalId.z",
  "numWorkgroups.x",
  "numWorkgroups.y",
  "numWorkgroups.z",
  "workgroupIndex",
  "localIndex",
  "subgroupId",
  "lane",
]);

const isNumeric = (type: ScalarType): boolean => isInteger(type) || isFloat(type);
const isIndex = (type: ScalarType): boolean => isInteger(type) || type === "index";

const typesOf = (values: readonly Value[]): ScalarType[] => values.map((value) => value.type);
const list = (types: readonly ScalarType[]): string => `(${types.join(", ")})`;

export function checkOperands(node: Node, ir: KernelIR, checks: OperandChecks): void {
  const fail = (what: string): never => checks.fail(node, what);
  const use = (value: Value, what: string): void => checks.use(node, value, what);
  const useIndex = (value: Value): void => {
    use(value, "index");
    if (!isIndex(value.type)) fail(`has an index of type ${value.type}`);
  };
  switch (node.kind) {
    case "const":
      return checkConst(node, fail);
    case "param": {
      const param = ir.params.find(({ name }) => name === node.name);
      if (param?.kind !== "scalar") return fail("reads what is no scalar parameter");
      if (param.type !== node.result.type)
        fail(`gives ${node.result.type}, but the parameter is ${param.type}`);
      return;
    }
    case "builtin":
      if (!BUILTINS.has(node.builtin)) fail("is unknown");
      if (node.result.type !== "u32") fail(`gives ${node.result.type}, not u32`);
      return;
    case "op": {
      for (const operand of node.operands) use(operand, "operand");
      if (!Object.hasOwn(ops, node.op)) return fail("is an unknown operation");
      const types = typesOf(node.operands);
      const result = ops[node.op].signature(types);
      if (result === null) return fail(`does not take ${list(types)}`);
      if (result !== node.result.type) fail(`of ${list(types)} gives ${result}, not ${node.result.type}`);
      return;
    }
    case "load":
    case "store": {
      const { memory } = node;
      const isLoad = node.kind === "load";
      const values = isLoad ? node.results : node.values;
      useIndex(node.index);
      if (!isLoad) for (const value of values) use(value, "value");
      if (![1, 2, 4, 8].includes(values.length))
        fail(`has width ${values.length}; widths are 1, 2 and 4, and 8 of two-byte elements`);
      if (values.length === 8 && elementBytes(memory.element) !== 2)
        fail(`has width 8, but the elements are ${memory.element}; only two-byte elements are moved by 8`);
      for (const { type } of values)
        if (type !== memory.element) fail(`moves ${type}, but the elements are ${memory.element}`);
      if (memory.atomic) fail("is not atomic, but the memory is");
      if (memory.space === "global" && memory.access === (isLoad ? "write" : "read"))
        fail(`is against the buffer's access, ${memory.access}`);
      return;
    }
    case "atomic":
      useIndex(node.index);
      for (const operand of node.operands) use(operand, "operand");
      return checkAtomic(node, fail);
    case "uniformLoad":
      useIndex(node.index);
      if (node.memory.space !== "shared") fail("reads memory that is not shared");
      if (node.memory.atomic) fail("is not atomic, but the memory is");
      if (node.result.type !== node.memory.element)
        fail(`gives ${node.result.type}, but the elements are ${node.memory.element}`);
      return;
    case "subgroup":
      for (const operand of node.operands) use(operand, "operand");
      return checkSubgroup(node, ir, fail);
    case "barrier":
    case "asyncCopy":
    case "commitCopies":
    case "awaitCopies":
    case "arrive":
    case "awaitPhase":
      return checkSynchronisation(node, ir, checks);
    case "var":
      if (!(isNumeric(node.variable.type) || node.variable.type === "bool"))
        fail(`cannot be of type ${String(node.variable.type)}`);
      if (node.init === null) return;
      use(node.init, "init");
      if (node.init.type !== node.variable.type)
        fail(`starts with ${node.init.type}, but the variable is ${node.variable.type}`);
      return;
    case "varGet":
      if (node.result.type !== node.variable.type)
        fail(`gives ${node.result.type}, but the variable is ${node.variable.type}`);
      return;
    case "varSet":
      use(node.value, "value");
      if (node.value.type !== node.variable.type)
        fail(`sets ${node.value.type}, but the variable is ${node.variable.type}`);
      return;
    case "if":
      use(node.condition, "condition");
      if (node.condition.type !== "bool") fail(`has a condition of type ${node.condition.type}, not bool`);
      return;
    case "for": {
      use(node.from, "from");
      use(node.to, "to");
      use(node.step, "step");
      const types = typesOf([node.induction, node.from, node.to, node.step]);
      if (!isInteger(node.induction.type) || types.some((type) => type !== node.induction.type))
        fail(`needs induction, from, to and step of one integer type, and has ${list(types)}`);
      return;
    }
    default:
      return;
  }
}

const ROUND = { f32: Math.fround, f16: roundF16, bf16: roundBF16 } as const;

function checkConst({ result, value }: ConstNode, fail: (what: string) => never): void {
  const { type } = result;
  const fits =
    type === "bool"
      ? typeof value === "boolean"
      : typeof value === "number" &&
        (isFloat(type) ? Object.is(ROUND[type](value), value) : isExact(value, type));
  if (!fits) fail(`is no exact ${type}`);
}

function isExact(value: number, type: ScalarType): boolean {
  if (Object.is(value, -0)) return false;
  if (type === "i32") return (value | 0) === value;
  if (type === "u32") return value >>> 0 === value;
  return type === "index" && Number.isSafeInteger(value);
}

const ATOMIC_OPERANDS: Readonly<Record<AtomicNode["op"], number>> = Object.freeze({
  load: 0,
  store: 1,
  add: 1,
  min: 1,
  max: 1,
  and: 1,
  or: 1,
  xor: 1,
  exchange: 1,
  compareExchange: 2,
});

const F32_ATOMICS: readonly AtomicNode["op"][] = ["load", "store", "add", "exchange"];

function checkAtomic(node: AtomicNode, fail: (what: string) => never): void {
  const { op, memory, operands, result, order } = node;
  const { element } = memory;
  if (!Object.hasOwn(ATOMIC_OPERANDS, op)) fail("is an unknown operation");
  if (!memory.atomic) fail("is atomic, but the memory is not");
  if (element === "f32" && !F32_ATOMICS.includes(op)) fail("does not exist for f32");
  if (operands.length !== ATOMIC_OPERANDS[op])
    fail(`has ${operands.length} operands, not ${ATOMIC_OPERANDS[op]}`);
  for (const { type } of operands)
    if (type !== element) fail(`takes ${type}, but the elements are ${element}`);
  if ((result === null) !== (op === "store"))
    fail(result === null ? "has no result" : "has a result, which a store does not give");
  if (result !== null && result.type !== element)
    fail(`gives ${result.type}, but the elements are ${element}`);
  if (!["relaxed", "acquire", "release", "acq_rel"].includes(order)) fail(`has order "${String(order)}"`);
  if (op === "load" && (order === "release" || order === "acq_rel"))
    fail(`cannot be ${order}: it writes nothing`);
  if (op === "store" && (order === "acquire" || order === "acq_rel"))
    fail(`cannot be ${order}: it reads nothing`);
}

function checkSubgroup(node: SubgroupNode, ir: KernelIR, fail: (what: string) => never): void {
  const { subgroupSize: width } = ir;
  checkFullSubgroups(ir, fail);
  const operands = list(typesOf(node.operands));
  const expected = subgroupResults(node.op, typesOf(node.operands), width);
  if (expected === null) return fail(`does not take ${operands}, or is unknown`);
  const results = list(typesOf(node.results));
  if (results !== list(expected)) fail(`gives ${list(expected)}, not ${results}`);
}
