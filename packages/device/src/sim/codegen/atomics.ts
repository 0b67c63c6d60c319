/** Writes the JavaScript of atomic operations: one function for each memory, operation and order of a kernel. */

import { assertNever } from "@evolver/base";
import { atomicAccess, elementBytes, isFloat } from "@evolver/kernel";
import type { AtomicNode, AtomicOp, Memory } from "@evolver/kernel";
import { positionName } from "../runtime/counting.ts";
import { REGISTER_FILE } from "../runtime/subgroup.ts";
import { count, sectorShift, wordShape } from "./accesses.ts";
import { accessRecord, takeData } from "./checks.ts";
import type { NamedMemory } from "./checks.ts";
import type { CodeOptions } from "./scopes.ts";

/** The new value of an element: over `old`, the operand `x` and, for compareExchange, `y`. */
function newValue(op: AtomicOp, element: Memory["element"]): string {
  switch (op) {
    case "load":
      return "old";
    case "store":
    case "exchange":
      return "x";
    case "add":
      return element === "f32" ? "fround(old + x)" : "old + x";
    case "min":
      return "old < x ? old : x";
    case "max":
      return "old > x ? old : x";
    case "and":
      return "old & x";
    case "or":
      return "old | x";
    case "xor":
      return "old ^ x";
    case "compareExchange":
      return "old === x ? y : old";
    default:
      return assertNever(op, "atomic operation");
  }
}

/** Counts an instruction; one that reaches outside is in error, and its traffic is not counted. */
function countAtomics(target: NamedMemory, { op }: AtomicNode): string {
  const { memory } = target;
  const isShared = memory.space === "shared";
  const traffic = isShared
    ? `countBanks(indices, place.index, active, ${wordShape(target).name}, ${target.name});`
    : count("atomicSectors", `countSectors(indices, place.index, active, stamps, ${sectorShift(target)})`);
  const adds = op === "add" && isFloat(memory.element);
  return `totals[${positionName(isShared ? "sharedAtomics" : "globalAtomics")}] += count;
  ${adds ? `totals[${positionName("flops")}] += count;` : ""}
  if (fits(indices, place.index, active, 1, length)) {
    ${count("atomicRequests", "1")}
    ${count("atomicBytes", `count * ${elementBytes(memory.element)}`)}
    ${traffic}
  }`;
}

/** What an operation returned, and what to whom, in sums over all invocations. */
const OBSERVE = `const mixed = mixNumber(element, old);
    returned[place.site] = (returned[place.site] + mixed) | 0;
    returnedTo[place.site] = (returnedTo[place.site] + mixNumber(mixed, time.workgroup * 2048 + subgroup.base + lane)) | 0;`;

/**
 * `name(subgroup, active, place, firstLane)`: operands in registers at `operand0` and `operand1`, the old value to `result`.
 * Lanes take their turns in order, from `firstLane` on.
 */
export function atomicFunction(
  name: string,
  target: NamedMemory,
  node: AtomicNode,
  options: CodeOptions,
): string {
  const { memory, op } = node;
  const access = atomicAccess[op];
  const writes = access !== "read";
  const modifies = access === "read_write";
  const releases = node.order === "release" || node.order === "acq_rel";
  const acquires = node.order === "acquire" || node.order === "acq_rel";
  const clocks = options.races === "clocks";
  // A relaxed load orders nothing; a relaxed store ends what was released, a relaxed update keeps it.
  const orders = clocks && (node.order !== "relaxed" || (writes && !modifies));
  // A comparison that fails is a load: it publishes nothing.
  const ordered = op === "compareExchange" ? `old === x ? ${name}_order : ${name}_failed` : `${name}_order`;
  const checksInitialised = options.races !== "none" && memory.space === "shared";
  const body = `time.instruction++;
  ${options.counters ? countAtomics(target, node) : ""}
  for (let turn = 0; turn < WIDTH; turn++) {
    const lane = (turn + firstLane) & (WIDTH - 1);
    if (count !== WIDTH && mask[lane] === 0) continue;
    const element = indices[place.index + lane];
    if (!(element >= 0 && element < length)) {
      findings.outOfBounds(${accessRecord(target, "atomic")}, 1);
      ${node.result ? "registers[place.result + lane] = 0;" : ""}
      continue;
    }
    ${checksInitialised && op !== "store" ? `if (${target.name}.writeTime[element] < time.workgroupStart) findings.uninitialised(${accessRecord(target, "atomic")});` : ""}
    ${checksInitialised && writes ? `${target.name}.writeTime[element] = time.now;` : ""}
    const old = ${options.weak && !writes ? `weak.load(${target.number}, element, data[element], subgroup, lane)` : "data[element]"}${node.operands.length > 0 ? ", x = registers[place.operand0 + lane]" : ""}${node.operands.length > 1 ? ", y = registers[place.operand1 + lane]" : ""};
    ${writes && options.weak ? `${op === "compareExchange" ? "if (old === x) " : ""}weak.wrote(${target.number}, element, old, subgroup, lane);` : ""}
    ${orders ? `${name}_element.element = element;\norder.atomic(subgroup, lane, ${name}_element, ${ordered}, ${options.weak && !writes ? "weak.older" : "null"});` : ""}
    ${
      writes
        ? `data[element] = ${newValue(op, memory.element)};
    if (data[element] !== old) time.changes++;`
        : ""
    }
    ${options.weak && acquires && !clocks ? "weak.acquired(subgroup, lane);" : ""}
    ${node.result ? "registers[place.result + lane] = old;" : ""}
    ${node.result && options.observe ? OBSERVE : ""}
  }
  ${clocks && acquires ? "order.shareClock(subgroup);" : ""}
  ${clocks && releases ? "subgroup.epochStart = ++time.now;" : ""}`;
  const ordering = `const ${name}_order = { acquires: ${acquires}, releases: ${releases}, writes: ${writes}, modifies: ${modifies} };
${op === "compareExchange" ? `const ${name}_failed = { acquires: ${acquires}, releases: false, writes: false, modifies: false };` : ""}
const ${name}_element = { memory: ${target.number}, element: 0 };`;
  return `${orders ? ordering : ""}
function ${name}(subgroup, active, place, firstLane) {
  const { mask, count } = active, { ${REGISTER_FILE[node.index.type]}: indices, ${REGISTER_FILE[memory.element]}: registers } = subgroup;
  ${takeData(target, body)}
  ${body}
}`;
}
