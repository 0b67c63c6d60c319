/**
 * Attention on buffers of the caller's: everything is checked, chosen and compiled once, and then run or enqueued as
 * often as wanted, between other kernels of a model. `attention()` is this with arrays.
 */

import {
  bindPlan,
  buildOf,
  isClocked,
  OwnedBuffer,
  type Device,
  type DeviceBuffer,
  type RunResult,
} from "@evolver/device";
import { EvolverError } from "@evolver/base";
import { attentionPlan } from "./attention-plan.ts";
import { preferredPoints } from "./choose.ts";
import { fitPoint } from "./flash/fit.ts";
import type { FlashPoint } from "./flash/space.ts";
import { limitsOf } from "./limits.ts";
import type { AttentionProblem, Strides } from "./problem.ts";
import { rungById } from "./rungs/ladder.ts";
import { extentsOf, spanOf } from "./tensor.ts";
import type { Extents, TensorName } from "./tensor.ts";

/** Where the tensors of a problem are: at least as long as its strides need. */
export interface AttentionBuffers {
  readonly q: DeviceBuffer<"f32">;
  readonly k: DeviceBuffer<"f32">;
  readonly v: DeviceBuffer<"f32">;
  readonly o: DeviceBuffer<"f32">;
  /** For the natural logarithms of the sums, [batch, headsQ, seqQ], dense; not computed where it is left out. */
  readonly lse?: DeviceBuffer<"f32">;
}

/** Attention on buffers of a device, compiled and ready to run any number of times. */
export interface PreparedAttention {
  /** The kernel that was taken; null where the output is empty and nothing runs. */
  readonly point: FlashPoint | null;
  /** Runs it once and waits. */
  run(): Promise<RunResult>;
  /**
   * Enqueues it once and does not wait. What is enqueued on a device runs in order, so o may be another kernel's input
   * at once. Null on a device without a clock of its own (`sim`, `cpu`): there, `run`.
   */
  readonly enqueue: (() => void) | null;
  /** Frees what the kernel kept for itself; the caller's buffers stay. */
  destroy(): void;
}

export const NOTHING_RUN: RunResult = { timeMs: null, counters: null, findings: [] };

/**
 * Makes attention ready to run on given buffers.
 *
 *     const problem = createProblem({ batch: 1, headsQ: 8, headsKv: 2, seqQ: 512, seqK: 512, dim: 64 }, { causal: true });
 *     const attend = await prepareAttention(device, problem, { q, k, v, o });
 *     attend.enqueue?.();
 *
 * One prepared attention may be enqueued many times, but not in two places at once.
 *
 * @param kernel a rung of the ladder by its id, or a point; chosen for problem and device if left out
 * @throws EvolverError ATTENTION_DATA for buffers that are too short, of another device or not of f32, UNKNOWN_RUNG, and
 *   INVALID_POINT where the kernel chosen does not fit the problem
 */
export async function prepareAttention(
  device: Device,
  problem: AttentionProblem,
  buffers: AttentionBuffers,
  { kernel }: { readonly kernel?: string | FlashPoint | undefined } = {},
): Promise<PreparedAttention> {
  const { shape, strides } = problem;
  const extents = extentsOf(shape);
  for (const name of ["q", "k", "v", "o"] as const)
    checkTensorData(device, {
      name,
      data: buffers[name],
      extents: extents[name],
      strides: strides[name],
      arrays: false,
    });
  if (buffers.lse !== undefined) checkLse(device, buffers.lse, shape.batch * shape.headsQ * shape.seqQ);
  if (spanOf(extents.o, strides.o) === 0)
    return {
      point: null,
      run: () => Promise.resolve(NOTHING_RUN),
      enqueue: isClocked(device) ? () => {} : null,
      destroy() {},
    };
  return bindAttention(device, problem, buffers, kernel);
}

/** The same where the buffers are known to be right, and there is something to run. */
export async function bindAttention(
  device: Device,
  problem: AttentionProblem,
  { lse, ...tensors }: AttentionBuffers,
  kernel: string | FlashPoint | undefined,
): Promise<PreparedAttention> {
  const point = choosePoint(kernel, problem, device);
  const plan = attentionPlan(point, problem, {
    ...buildOf(device),
    writeLse: lse !== undefined,
    machine: device.machine,
  });
  const bound = await bindPlan(device, plan, { buffers: { ...tensors, ...(lse !== undefined && { lse }) } });
  return {
    point,
    run: async () => (await bound.run())[0] ?? NOTHING_RUN,
    enqueue: bound.enqueue,
    destroy: () => bound.destroy(),
  };
}

/** The kernel asked for, or the first of the preferred ones that fits the device. */
function choosePoint(
  kernel: string | FlashPoint | undefined,
  problem: AttentionProblem,
  device: Device,
): FlashPoint {
  const subgroup = device.subgroupSize;
  const limits = limitsOf(device);
  if (typeof kernel === "object") return kernel;
  if (kernel !== undefined) return fitPoint(rungById(kernel).point, problem, subgroup, limits);
  let failure: unknown;
  for (const point of preferredPoints(problem, device)) {
    try {
      return fitPoint(point, problem, subgroup, limits);
    } catch (error) {
      if (!(error instanceof EvolverError) || error.code !== "INVALID_POINT") throw error;
      failure ??= error;
    }
  }
  throw failure;
}

/** A tensor's data, and what of them the problem needs. */
export interface TensorData {
  /** Whether an array will do, which is then copied to the device. */
  readonly arrays: boolean;
  readonly name: TensorName;
  readonly data: Float32Array | DeviceBuffer<"f32">;
  readonly extents: Extents;
  readonly strides: Strides;
}

/** @throws EvolverError ATTENTION_DATA */
export function checkTensorData(device: Device, tensor: TensorData): void {
  const { name, data, extents, strides, arrays } = tensor;
  if (!arrays || !(data instanceof Float32Array)) checkBuffer(device, name, data, arrays);
  const needed = spanOf(extents, strides);
  if (data.length >= needed) return;
  const last = extents.map((extent) => extent - 1).join(", ");
  throw new EvolverError(
    "ATTENTION_DATA",
    `${name} has ${data.length} elements; shape [${extents.join(", ")}] at strides [${strides.join(", ")}] needs ${needed}`,
    { hint: `the element at [${last}] would lie at index ${needed - 1}` },
  );
}

/** @throws EvolverError ATTENTION_DATA */
export function checkLse(device: Device, lse: DeviceBuffer<"f32">, rows: number): void {
  checkBuffer(device, "lse", lse, false);
  if (lse.length >= rows) return;
  throw new EvolverError("ATTENTION_DATA", `lse has ${lse.length} elements; the problem has ${rows} rows`, {
    hint: "there is one logarithm for each row of queries: batch · headsQ · seqQ",
  });
}

function checkBuffer(
  device: Device,
  name: string,
  data: unknown,
  arrays: boolean,
): asserts data is OwnedBuffer {
  if (!(data instanceof OwnedBuffer))
    throw arrays
      ? new EvolverError(
          "ATTENTION_DATA",
          `the data of ${name} is neither a Float32Array nor a device buffer`,
          { hint: "Float32Array.from(data) converts other arrays" },
        )
      : new EvolverError("ATTENTION_DATA", `${name} is not a device buffer`, {
          hint: `make one with createBuffer of the ${device.id} device`,
        });
  if (data.owner !== (device as unknown))
    throw new EvolverError("ATTENTION_DATA", `the data of ${name} is a buffer of another device`, {
      hint: `make it with createBuffer of the ${device.id} device that runs the attention`,
    });
  if ((data.element as string) !== "f32")
    throw new EvolverError("ATTENTION_DATA", `the data of ${name} is a buffer of ${data.element}`, {
      hint: "attention takes f32",
    });
}
