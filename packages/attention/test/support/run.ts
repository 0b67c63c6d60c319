/** Runs a point of the strategy space on a device as the judge would: outputs full of NaN, fenced, and read whole. */

import {
  bindPlan,
  buildOf,
  workgroupCount,
  type Device,
  type PlanLaunch,
  type RunResult,
} from "@evolver/device";
import {
  attentionPlan,
  attentionTruth,
  compareWithTruth,
  extentsOf,
  fitPoint,
  forEachRow,
  limitsOf,
  spanOf,
} from "@evolver/attention";
import type {
  AttentionComparison,
  AttentionProblem,
  AttentionTruth,
  FlashPoint,
  FloatInputs,
} from "@evolver/attention";

/** Elements of NaN behind each output; a kernel that writes one is found out. */
const FENCE = 24;

export interface PointRun {
  /** As the problem's strides say. */
  readonly o: Float32Array;
  readonly lse: Float32Array;
  /** Elements of the output buffers that were written though they are no element of the outputs. */
  readonly strayWrites: number;
  readonly workgroups: number;
  readonly result: RunResult;
}

export interface RunOptions {
  /** On `sim`: only these workgroups. */
  readonly sample?: readonly number[];
  /** Launches one after another on the same buffers, outputs full of NaN before each. */
  readonly launches?: number;
  readonly persistentWorkgroups?: number | undefined;
}

export async function runPoint(
  device: Device,
  point: FlashPoint,
  problem: AttentionProblem,
  inputs: FloatInputs,
  { sample, launches = 1, persistentWorkgroups }: RunOptions = {},
): Promise<PointRun> {
  const { batch, headsQ, seqQ } = problem.shape;
  const fitted = fitPoint(point, problem, device.subgroupSize, limitsOf(device));
  const plan = attentionPlan(fitted, problem, { ...buildOf(device), persistentWorkgroups });
  const extents = extentsOf(problem.shape).o;
  const rows = batch * headsQ * seqQ;
  const nan = (length: number) => new Float32Array(length).fill(Number.NaN);
  const fenced = (length: number) => device.createBuffer("f32", nan(length + FENCE));
  const buffers = {
    q: device.createBuffer("f32", inputs.q),
    k: device.createBuffer("f32", inputs.k),
    v: device.createBuffer("f32", inputs.v),
    o: fenced(spanOf(extents, problem.strides.o)),
    lse: fenced(rows),
  };
  const bound = await bindPlan(device, plan, { buffers });
  try {
    const run = async (): Promise<RunResult> => (await bound.run(sample && (() => sample)))[0] as RunResult;
    let result = await run();
    for (let again = 1; again < launches; again++) {
      for (const output of [buffers.o, buffers.lse]) await output.write(nan(output.length));
      result = await run();
    }
    const o = await buffers.o.read();
    const lse = await buffers.lse.read();
    const gaps = o.slice();
    forEachRow(extents, problem.strides.o, (offset) => {
      for (let d = 0; d < extents[3]; d++) gaps[offset + d * problem.strides.o[3]] = NaN;
    });
    const stray = [gaps, lse.subarray(rows)].map((data) => data.filter((value) => !Number.isNaN(value)));
    return {
      o: o.subarray(0, o.length - FENCE),
      lse: lse.subarray(0, rows),
      strayWrites: stray[0]!.length + stray[1]!.length,
      workgroups: workgroupCount(plan.launches[0] as PlanLaunch),
      result,
    };
  } finally {
    bound.destroy();
    for (const buffer of Object.values(buffers)) buffer.destroy();
  }
}

export interface Checked extends PointRun {
  readonly comparison: AttentionComparison;
  /** "right", or what is wrong in a line. */
  readonly verdict: string;
}

/** Runs a point and compares with the truth. */
export async function checkPointOn(
  device: Device,
  point: FlashPoint,
  problem: AttentionProblem,
  inputs: FloatInputs,
  truth: AttentionTruth = attentionTruth(problem, inputs),
  options: RunOptions = {},
): Promise<Checked> {
  const run = await runPoint(device, point, problem, inputs, options);
  const comparison = compareWithTruth(problem, truth, run);
  return { ...run, comparison, verdict: verdictOf(run, comparison) };
}

function verdictOf({ strayWrites, result }: PointRun, comparison: AttentionComparison): string {
  if (strayWrites > 0) return `wrote ${strayWrites} elements outside the outputs`;
  if (result.findings.length > 0) return result.findings.map(({ message }) => message).join("\n");
  if (comparison.pass) return "right";
  const { error, bound, lseError, lseBound, where } = comparison;
  return `o off by ${error} (${bound} allowed), lse by ${lseError} (${lseBound}): ${JSON.stringify(where)}`;
}
