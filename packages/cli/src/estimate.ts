/**
 * How long work may take, before it runs. A launch on the simulator: invocations, times what each executes by the bounds of
 * its loops. Bounds that are only known at run time count as one turn, so that the estimate is then a lower bound.
 */

import { quantity } from "@evolver/base";
import { isModelled } from "@evolver/device";
import { blocksOf, type Block, type KernelIR, type Node, type Value } from "@evolver/kernel";
import type { LadderWork } from "@evolver/lab";

export interface WorkEstimate {
  /** Operations of single invocations. */
  readonly operations: number;
  /** Whether a loop has bounds that are only known at run time. */
  readonly atLeast: boolean;
}

type Known = Map<number, number>;

/** @param scalars values of scalar parameters by name */
export function estimateWork(
  ir: KernelIR,
  workgroups: readonly number[],
  scalars: Readonly<Record<string, unknown>>,
): WorkEstimate {
  const known: Known = new Map();
  let atLeast = false;
  const see = (node: Node): void => {
    if (node.kind === "const" && typeof node.value === "number") known.set(node.result.id, node.value);
    if (node.kind === "param" && typeof scalars[node.name] === "number")
      known.set(node.result.id, scalars[node.name] as number);
    if (node.kind !== "op") return;
    const operands = node.operands.map(({ id }) => known.get(id));
    if (operands.some((operand) => operand === undefined)) return;
    const result = arithmetic(node.op, operands as number[]);
    if (result !== undefined) known.set(node.result.id, result);
  };
  const turns = (node: Node): number => {
    if (node.kind === "while") {
      atLeast = true;
      return 1;
    }
    if (node.kind !== "for") return 1;
    const [from, to, step] = [node.from, node.to, node.step].map(({ id }: Value) => known.get(id));
    if (to === undefined || step === undefined || step === 0) {
      atLeast = true;
      return 1;
    }
    // Where it begins is often the invocation's own index, which is small beside where it ends.
    return Math.max(0, Math.ceil((to - (from ?? 0)) / step));
  };
  const count = (block: Block): number => {
    let sum = 0;
    for (const node of block.nodes) {
      see(node);
      const inner = blocksOf(node);
      // Of a branch one side runs: the longer one is what is waited for.
      const body =
        node.kind === "if" ? Math.max(...inner.map(count)) : inner.map(count).reduce((a, b) => a + b, 0);
      sum += 1 + turns(node) * body;
    }
    return sum;
  };
  const invocations = [...workgroups, ...ir.workgroupSize].reduce((product, each) => product * each, 1);
  return { operations: invocations * count(ir.body), atLeast };
}

function arithmetic(op: string, [a = 0, b = 0]: readonly number[]): number | undefined {
  const results: Readonly<Record<string, number>> = {
    add: a + b,
    sub: a - b,
    mul: a * b,
    min: Math.min(a, b),
    max: Math.max(a, b),
    divTrunc: Math.trunc(a / b),
    divFloor: Math.floor(a / b),
    toI32: a,
    toU32: a,
  };
  return results[op];
}

/** Operations that the simulator executes per second with all checks, roughly; machines and kernels differ tenfold. */
const SIMULATED_PER_SECOND = 50e6;
/** Floating-point operations per second of the cpu device, roughly. */
const CPU_FLOPS = 10e9;
/** Seconds from which on work is long. */
const LONG = 60;

/** What to say before a check that takes long; null where it does not. @param launches how often the launch runs */
export function longCheck(
  { operations, atLeast }: WorkEstimate,
  launches: number,
  name: string,
): string | null {
  const seconds = (operations * launches) / SIMULATED_PER_SECOND;
  if (seconds < LONG) return null;
  const size = `${atLeast ? "at least" : "about"} ${quantity(operations)} operations`;
  return `warning: one launch of ${name} is ${size}, and ${launches} of them may take ${roughly(seconds)}; fewer --workgroups, smaller --arg or --schedules 1 take less`;
}

/** What to say before a ladder that takes long; null where it does not, or where nothing is known of the device. */
export function longLadder({ rungs, runs, flops }: LadderWork, device: string): string | null {
  const seconds = (rungs * runs * flops) / CPU_FLOPS;
  if (seconds < LONG || (device !== "cpu" && !isModelled(device))) return null;
  const times = runs === 1 ? "" : `, ${runs} times each,`;
  return `warning: one run is ${quantity(flops, "FLOP")}, and ${rungs} ${rungs === 1 ? "rung" : "rungs"}${times} may take ${roughly(seconds)} on ${device}; a smaller --shape or fewer --rungs take less`;
}

const roughly = (seconds: number): string => {
  const [size, unit] = UNITS.find(([length]) => seconds >= 2 * length) ?? [1, "seconds"];
  return `some ${quantity(Math.round(seconds / size))} ${unit}`;
};

const UNITS = [
  [86_400, "days"],
  [3600, "hours"],
  [60, "minutes"],
] as const;
