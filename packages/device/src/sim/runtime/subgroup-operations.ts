/**
 * Subgroup operations over registers, one function each. Operands and results are positions in a register file, those
 * of lane 0.
 */

import { assertNever } from "@evolver/base";
import { math, MAX_SUBGROUP_SIZE, scalarTypes, subgroupOps } from "@evolver/kernel";
import type { NumericType, SubgroupOp } from "@evolver/kernel";
import type { AccessFindings } from "./access-findings.ts";
import type { LaneSet, Subgroup } from "./subgroup.ts";

type Registers = Float32Array | Int32Array | Uint32Array;

/** A place in the kernel: its number, the operation, the type of the value, and where values and results are. */
interface OperationSite<Op extends SubgroupOp = SubgroupOp> {
  readonly site: number;
  readonly op: Op;
  readonly type: NumericType;
  readonly operand: number;
  /** Of a shuffle: the lane, mask or distance. */
  readonly by: number;
  readonly result: number;
}

/** Two arrays for intermediate results in each register file that an operand can be in. */
const floats: readonly Registers[] = [
  new Float32Array(MAX_SUBGROUP_SIZE),
  new Float32Array(MAX_SUBGROUP_SIZE),
];
const signed: readonly Registers[] = [new Int32Array(MAX_SUBGROUP_SIZE), new Int32Array(MAX_SUBGROUP_SIZE)];
const unsigned: readonly Registers[] = [
  new Uint32Array(MAX_SUBGROUP_SIZE),
  new Uint32Array(MAX_SUBGROUP_SIZE),
];
const SCRATCH: Readonly<Record<NumericType, readonly Registers[]>> = {
  f32: floats,
  f16: floats,
  bf16: floats,
  i32: signed,
  u32: unsigned,
};

type Combining = "sum" | "min" | "max";

function combine(op: Combining, a: number, b: number, round: (x: number) => number): number {
  switch (op) {
    case "sum":
      return round(a + b);
    case "min":
      return math.min(a, b);
    case "max":
      return math.max(a, b);
    default:
      return assertNever(op, "combining operation");
  }
}

/** Loads the operand of active lanes, and the identity for the others. */
function gather(
  target: Registers,
  registers: Registers,
  first: number,
  mask: Uint8Array,
  other: number,
): void {
  for (let lane = 0; lane < mask.length; lane++)
    target[lane] = mask[lane] !== 0 ? (registers[first + lane] as number) : other;
}

/** A butterfly over the lanes; returns the results of all. */
function butterfly(
  registers: Registers,
  { mask }: LaneSet,
  { op, type, operand }: OperationSite<Combining>,
): Registers {
  const { round } = scalarTypes[type];
  let [value, next] = SCRATCH[type] as [Registers, Registers];
  gather(value, registers, operand, mask, subgroupOps[op].identity(type) as number);
  for (let distance = mask.length >> 1; distance > 0; distance >>= 1) {
    for (let lane = 0; lane < mask.length; lane++)
      next[lane] = combine(op, value[lane] as number, value[lane ^ distance] as number, round);
    [value, next] = [next, value];
  }
  return value;
}

/** The result that all lanes share. */
function reduce(registers: Registers, active: LaneSet, site: OperationSite<Combining>): number {
  return butterfly(registers, active, site)[0] as number;
}

/** A floating-point minimum or maximum, in which lanes may differ in the sign of zero. */
function reduceLanes(registers: Registers, active: LaneSet, site: OperationSite<Combining>): void {
  const result = butterfly(registers, active, site);
  for (let lane = 0; lane < active.mask.length; lane++)
    registers[site.result + lane] = result[lane] as number;
}

function any(registers: Registers, { mask }: LaneSet, { operand }: OperationSite): number {
  for (let lane = 0; lane < mask.length; lane++)
    if (mask[lane] !== 0 && registers[operand + lane] !== 0) return 1;
  return 0;
}

function all(registers: Registers, { mask }: LaneSet, { operand }: OperationSite): number {
  for (let lane = 0; lane < mask.length; lane++)
    if (mask[lane] !== 0 && registers[operand + lane] === 0) return 0;
  return 1;
}

/** One word of the ballot. */
function ballot(registers: Registers, { mask }: LaneSet, { operand }: OperationSite, word: number): number {
  let bits = 0;
  const end = Math.min(mask.length, word * 32 + 32);
  for (let lane = word * 32; lane < end; lane++)
    if (mask[lane] !== 0 && registers[operand + lane] !== 0) bits |= 1 << (lane & 31);
  return bits >>> 0;
}

function broadcastFirst(registers: Registers, active: LaneSet, { operand }: OperationSite): number {
  return registers[operand + active.first] as number;
}

function scan(registers: Registers, { mask }: LaneSet, site: OperationSite, shift: 0 | 1): void {
  const { round } = scalarTypes[site.type];
  let [value, next] = SCRATCH[site.type] as [Registers, Registers];
  const width = mask.length;
  gather(value, registers, site.operand, mask, 0);
  for (let distance = 1; distance < width; distance <<= 1) {
    for (let lane = 0; lane < width; lane++)
      next[lane] =
        lane >= distance
          ? round((value[lane - distance] as number) + (value[lane] as number))
          : (value[lane] as number);
    [value, next] = [next, value];
  }
  for (let lane = 0; lane < width; lane++)
    registers[site.result + lane] = lane < shift ? 0 : (value[lane - shift] as number);
}

function inclusiveSum(registers: Registers, active: LaneSet, site: OperationSite): void {
  scan(registers, active, site, 0);
}

function exclusiveSum(registers: Registers, active: LaneSet, site: OperationSite): void {
  scan(registers, active, site, 1);
}

export type LaneReadOp = Extract<SubgroupOp, "broadcast" | `shuffle${string}`>;

/** The lane that a lane reads. */
const SOURCE_LANE: { readonly [K in LaneReadOp]: (lane: number, by: number) => number } = {
  broadcast: (_, by) => by,
  shuffle: (_, by) => by,
  shuffleXor: (lane, by) => (lane ^ by) >>> 0,
  shuffleUp: (lane, by) => lane - by,
  shuffleDown: (lane, by) => lane + by,
};

/** The lane that an operation reads in a lane, which may not exist. */
export const laneRead = (op: LaneReadOp, lane: number, by: number): number => SOURCE_LANE[op](lane, by);

/** @param findings where reads of inactive lanes are noted */
function shuffle(
  registers: Registers,
  subgroup: Subgroup,
  { mask }: LaneSet,
  { site, op, type, operand, by, result }: OperationSite<LaneReadOp>,
  findings: AccessFindings,
): void {
  const source = SCRATCH[type][0] as Registers;
  const sourceLane = SOURCE_LANE[op];
  for (let lane = 0; lane < mask.length; lane++) source[lane] = registers[operand + lane] as number;
  for (let lane = 0; lane < mask.length; lane++) {
    if (mask[lane] === 0) continue;
    const from = sourceLane(lane, subgroup.u32[by + lane] as number);
    const readable = from >= 0 && from < mask.length && mask[from] !== 0;
    if (!readable) findings.indeterminate(site);
    registers[result + lane] = source[readable ? from : lane] as number;
  }
}

/** What generated code calls. */
export const subgroupOperations = Object.freeze({
  ...{ reduce, reduceLanes, any, all, ballot, broadcastFirst },
  ...{ inclusiveSum, exclusiveSum, shuffle },
});
