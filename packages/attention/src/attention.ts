/**
 * Attention for users: checks what was passed, chooses a kernel, runs it on a device, and gives back arrays. How the
 * kernel works is in `flash/`; which kernels there are, in the ladder.
 */

import { OwnedBuffer } from "@evolver/device";
import type { Device, DeviceBuffer, RunResult } from "@evolver/device";
import { EvolverError } from "@evolver/base";
import { preferredPoints } from "./choose.ts";
import { planAttention } from "./flash/plan.ts";
import type { AttentionPlan } from "./flash/plan.ts";
import { fitPoint } from "./flash/fit.ts";
import type { FlashPoint } from "./flash/point.ts";
import { createScratch } from "./flash/scratch.ts";
import { rungById } from "./rungs/ladder.ts";
import { limitsOf } from "./limits.ts";
import type { AttentionProblem, Strides } from "./problem.ts";
import { programFor } from "./programs.ts";
import { extentsOf, spanOf } from "./tensor.ts";
import type { Extents } from "./tensor.ts";
import { createProblem, shapeOfTensors } from "./validate.ts";
import type { ScoreOptions } from "./validate.ts";

/** An input: float32 values, in memory or already on the device. */
export interface AttentionTensor {
  readonly data: Float32Array | DeviceBuffer<"f32">;
  /** [batch, heads, sequence, dim] */
  readonly shape: readonly number[];
  /** In elements, of the same axes; densely packed if left out. 0 repeats an axis. */
  readonly strides?: Strides;
}

export interface AttentionOptions extends ScoreOptions {
  /** [batch, headsQ, seqQ, dim] */
  readonly q: AttentionTensor;
  /** [batch, headsKv, seqK, dim]; headsKv divides headsQ, and neighbouring query heads share a key head. */
  readonly k: AttentionTensor;
  /** Shaped like k. */
  readonly v: AttentionTensor;
  /** Of the output; densely packed if left out. */
  readonly outputStrides?: Strides;
  /** Whether to return the logarithms of the sums, too. */
  readonly lse?: boolean;
  /** A rung of the ladder by its id, or a point of the strategy space; chosen for problem and device if left out. */
  readonly kernel?: string | FlashPoint;
}

export interface AttentionResults {
  /** [batch, headsQ, seqQ, dim], at `outputStrides`; elements between strided ones are 0. */
  readonly o: Float32Array;
  /** Natural logarithms, [batch, headsQ, seqQ], dense; −Infinity for rows that see no key. Null unless asked for. */
  readonly lse: Float32Array | null;
  /** Of the one launch; of none where the output is empty. */
  readonly result: RunResult;
}

const KNOWN_OPTIONS: Readonly<Record<keyof AttentionOptions, true>> = {
  q: true,
  k: true,
  v: true,
  mask: true,
  causal: true,
  window: true,
  scale: true,
  softcap: true,
  outputStrides: true,
  lse: true,
  kernel: true,
};
const NOTHING_RUN: RunResult = { timeMs: null, counters: null, findings: [] };

/**
 * softmax(mask(softcap(scale · q·kᵀ))) · v, without ever holding the matrix of scores.
 *
 *     import { attention } from "@evolver/attention";
 *     import { openDevice } from "@evolver/device";
 *
 *     const device = await openDevice("cpu");
 *     const { o, lse } = await attention(device, {
 *       q: { data: q, shape: [1, 8, 512, 64] },
 *       k: { data: k, shape: [1, 2, 512, 64] },
 *       v: { data: v, shape: [1, 2, 512, 64] },
 *       causal: true,
 *       lse: true,
 *     });
 *
 * Causal and windowed masks align bottom-right: query i sees key j when j ≤ i + seqK − seqQ. A row that sees no key
 * has o = 0 and lse = −Infinity.
 *
 * @throws ATTENTION_SHAPE, ATTENTION_STRIDES, ATTENTION_OPTION or ATTENTION_DATA before anything runs;
 *   UNKNOWN_RUNG, or INVALID_POINT where the kernel chosen does not fit the problem
 */
export async function attention(device: Device, options: AttentionOptions): Promise<AttentionResults> {
  const problem = checkedProblem(device, options);
  const { shape, strides } = problem;
  const extents = extentsOf(shape);
  const span = spanOf(extents.o, strides.o);
  const writeLse = options.lse === true;
  const rows = shape.batch * shape.headsQ * shape.seqQ;
  if (span === 0)
    return { o: new Float32Array(), lse: writeLse ? new Float32Array() : null, result: NOTHING_RUN };
  const plan = choosePlan(options.kernel, problem, device, writeLse);
  const program = await programFor(device, plan.kernel);
  const scratch = createScratch(device, plan);
  const owned: DeviceBuffer[] = Object.values(scratch);
  const create = (contents: number | Float32Array): DeviceBuffer<"f32"> => {
    const buffer = device.createBuffer("f32", contents);
    owned.push(buffer);
    return buffer;
  };
  const upload = ({ data }: AttentionTensor, needed: number): DeviceBuffer<"f32"> => {
    if (!(data instanceof Float32Array)) return data;
    return create(needed === 0 ? 1 : data.subarray(0, needed));
  };
  try {
    const o = create(span);
    const lse = create(writeLse ? rows : 1);
    const args = {
      q: upload(options.q, spanOf(extents.q, strides.q)),
      k: upload(options.k, spanOf(extents.k, strides.k)),
      v: upload(options.v, spanOf(extents.v, strides.v)),
      o,
      lse,
      ...plan.scalars,
      ...scratch,
    };
    const result = await program.run({ workgroups: plan.workgroups, args });
    return { o: await o.read(), lse: writeLse ? await lse.read() : null, result };
  } finally {
    for (const buffer of owned) buffer.destroy();
  }
}

function checkedProblem(device: Device, options: AttentionOptions): AttentionProblem {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(KNOWN_OPTIONS, name)) continue;
    throw option(`there is no option "${name}"`, `the options are ${Object.keys(KNOWN_OPTIONS).join(", ")}`);
  }
  const { q, k, v, lse, kernel } = options;
  for (const [name, tensor] of Object.entries({ q, k, v })) {
    if (typeof tensor === "object" && tensor !== null) continue;
    throw option(`${name} is missing`, "pass { data, shape }");
  }
  if (typeof kernel === "string") rungById(kernel);
  else if (kernel !== undefined && (typeof kernel !== "object" || kernel === null))
    throw option(`kernel is ${String(kernel)}`, "it is the id of a rung, or a point");
  if (lse !== undefined && typeof lse !== "boolean")
    throw option(`lse is ${String(lse)}`, "it is true or false");
  const problem = createProblem(shapeOfTensors(q.shape, k.shape, v.shape), {
    mask: options.mask,
    causal: options.causal,
    window: options.window,
    scale: options.scale,
    softcap: options.softcap,
    strides: { q: q.strides, k: k.strides, v: v.strides, o: options.outputStrides },
  });
  const extents = extentsOf(problem.shape);
  for (const name of ["q", "k", "v"] as const)
    checkData(device, name, options[name], extents[name], problem.strides[name]);
  return problem;
}

function checkData(
  device: Device,
  name: "q" | "k" | "v",
  { data }: AttentionTensor,
  extents: Extents,
  strides: Strides,
): void {
  const onDevice = data instanceof OwnedBuffer;
  if (!onDevice && !(data instanceof Float32Array))
    throw new EvolverError(
      "ATTENTION_DATA",
      `the data of ${name} is neither a Float32Array nor a device buffer`,
      {
        hint: "Float32Array.from(data) converts other arrays",
      },
    );
  if (onDevice && data.owner !== (device as unknown))
    throw new EvolverError("ATTENTION_DATA", `the data of ${name} is a buffer of another device`, {
      hint: `make it with createBuffer of the ${device.id} device that runs the attention`,
    });
  if (onDevice && (data.element as string) !== "f32")
    throw new EvolverError("ATTENTION_DATA", `the data of ${name} is a buffer of ${data.element}`, {
      hint: "attention takes f32",
    });
  const needed = spanOf(extents, strides);
  if (data.length >= needed) return;
  const last = extents.map((extent) => extent - 1).join(", ");
  throw new EvolverError(
    "ATTENTION_DATA",
    `${name} has ${data.length} elements; shape [${extents.join(", ")}] at strides [${strides.join(", ")}] needs ${needed}`,
    { hint: `the element at [${last}] would lie at index ${needed - 1}` },
  );
}

/** The plan of the kernel asked for, or of the first of the preferred ones that fits the device. */
function choosePlan(
  kernel: AttentionOptions["kernel"],
  problem: AttentionProblem,
  device: Device,
  writeLse: boolean,
): AttentionPlan {
  const subgroup = device.subgroupSize;
  const limits = limitsOf(device);
  const planOf = (point: FlashPoint): AttentionPlan => planAttention(point, problem, { subgroup, writeLse });
  if (typeof kernel === "object") return planOf(kernel);
  if (kernel !== undefined) return planOf(fitPoint(rungById(kernel).point, problem, subgroup, limits));
  let failure: unknown;
  for (const point of preferredPoints(problem, device)) {
    try {
      return planOf(fitPoint(point, problem, subgroup, limits));
    } catch (error) {
      if (!(error instanceof EvolverError) || error.code !== "INVALID_POINT") throw error;
      failure ??= error;
    }
  }
  throw failure;
}

function option(what: string, hint: string): EvolverError {
  return new EvolverError("ATTENTION_OPTION", what, { hint });
}
