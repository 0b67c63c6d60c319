/**
 * Attention for users: checks the arguments, chooses a kernel, runs it on a device, and returns arrays or writes into
 * buffers. How the kernel works is in `flash/`; which kernels there are, in the ladder.
 */

import type { Device, DeviceBuffer, RunResult } from "@evolver/device";
import { EvolverError } from "@evolver/base";
import type { FlashPoint } from "./flash/space.ts";
import { bindAttention, checkLse, checkTensorData, NOTHING_RUN } from "./prepare.ts";
import { rungById } from "./rungs/ladder.ts";
import type { AttentionProblem, Strides } from "./problem.ts";
import { extentsOf, spanOf } from "./tensor.ts";
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

/** What `attention` takes: tensors with their mask, scale and softcap. */
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

/** Attention that is written into buffers of the device. */
export interface AttentionIntoOptions extends Omit<AttentionOptions, "lse"> {
  /** Where the output goes, [batch, headsQ, seqQ, dim] at `outputStrides`; elements between strided ones stay as they are. */
  readonly o: DeviceBuffer<"f32">;
  /** Where the logarithms of the sums go, [batch, headsQ, seqQ], dense; not computed if left out. */
  readonly lse?: DeviceBuffer<"f32">;
}

/** What `attention` gives. */
export interface AttentionResults {
  /** [batch, headsQ, seqQ, dim], at `outputStrides`; elements between strided ones are 0. */
  readonly o: Float32Array;
  /** Natural logarithms, [batch, headsQ, seqQ], dense; −Infinity for rows that see no key. Null unless asked for. */
  readonly lse: Float32Array | null;
  /** The result of the one launch; null where the output is empty. */
  readonly result: RunResult;
}

/** What is known once the output is in its buffer. */
export interface AttentionWritten {
  readonly result: RunResult;
}

const KNOWN_OPTIONS: Readonly<Record<keyof AttentionIntoOptions, true>> = {
  q: true,
  k: true,
  v: true,
  o: true,
  mask: true,
  causal: true,
  window: true,
  scale: true,
  softcap: true,
  outputStrides: true,
  lse: true,
  kernel: true,
};
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
 * With a buffer of the device for `o` (and `lse`), the output stays there and nothing is read back; `prepareAttention`
 * checks and chooses once for many such runs, and enqueues them without waiting.
 *
 * Causal and windowed masks align bottom-right: query i sees key j when j ≤ i + seqK − seqQ. A row that sees no key
 * has o = 0 and lse = −Infinity.
 *
 * Kernels divide by the sum of a row's weights only at its end. So values times the number of keys that a row sees must stay below 3.4e38;
 * beyond that the output may be infinite or NaN where the average is finite.
 *
 * @throws ATTENTION_SHAPE, ATTENTION_STRIDES, ATTENTION_OPTION or ATTENTION_DATA before anything runs;
 *   UNKNOWN_RUNG, or INVALID_POINT where the kernel chosen does not fit the problem
 */
export function attention(device: Device, options: AttentionIntoOptions): Promise<AttentionWritten>;
export function attention(device: Device, options: AttentionOptions): Promise<AttentionResults>;
export async function attention(
  device: Device,
  options: AttentionOptions | AttentionIntoOptions,
): Promise<AttentionResults | AttentionWritten> {
  const problem = checkedProblem(device, options);
  const { shape, strides } = problem;
  const extents = extentsOf(shape);
  const span = spanOf(extents.o, strides.o);
  const rows = shape.batch * shape.headsQ * shape.seqQ;
  const into = "o" in options ? options : null;
  const writeLse = into === null && options.lse === true;
  if (span === 0)
    return into === null
      ? { o: new Float32Array(), lse: writeLse ? new Float32Array() : null, result: NOTHING_RUN }
      : { result: NOTHING_RUN };
  const owned: { destroy(): void }[] = [];
  const own = <T extends { destroy(): void }>(made: T): T => {
    owned.push(made);
    return made;
  };
  const create = (contents: number | Float32Array): DeviceBuffer<"f32"> =>
    own(device.createBuffer("f32", contents));
  const upload = ({ data }: AttentionTensor, needed: number): DeviceBuffer<"f32"> => {
    if (!(data instanceof Float32Array)) return data;
    return create(needed === 0 ? 1 : data.subarray(0, needed));
  };
  try {
    const o = into?.o ?? create(span);
    const lse = into === null ? (writeLse ? create(rows) : undefined) : into.lse;
    const buffers = {
      q: upload(options.q, spanOf(extents.q, strides.q)),
      k: upload(options.k, spanOf(extents.k, strides.k)),
      v: upload(options.v, spanOf(extents.v, strides.v)),
      o,
      ...(lse !== undefined && { lse }),
    };
    const prepared = own(await bindAttention(device, problem, buffers, options.kernel));
    const result = await prepared.run();
    if (into !== null) return { result };
    return { o: await o.read(), lse: lse === undefined ? null : await lse.read(), result };
  } finally {
    for (const each of owned) each.destroy();
  }
}

function checkedProblem(device: Device, options: AttentionOptions | AttentionIntoOptions): AttentionProblem {
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
  const into = "o" in options;
  if (!into && lse !== undefined && typeof lse !== "boolean")
    throw option(`lse is ${String(lse)}`, "it is true or false, or a buffer beside one for o");
  const problem = createProblem(shapeOfTensors(q.shape, k.shape, v.shape), {
    mask: options.mask,
    causal: options.causal,
    window: options.window,
    scale: options.scale,
    softcap: options.softcap,
    strides: { q: q.strides, k: k.strides, v: v.strides, o: options.outputStrides },
  });
  const extents = extentsOf(problem.shape);
  const { strides, shape } = problem;
  for (const name of ["q", "k", "v"] as const)
    checkTensorData(device, {
      name,
      data: options[name].data,
      extents: extents[name],
      strides: strides[name],
      arrays: true,
    });
  if (!into) return problem;
  checkTensorData(device, {
    name: "o",
    data: options.o,
    extents: extents.o,
    strides: strides.o,
    arrays: false,
  });
  if (options.lse !== undefined) checkLse(device, options.lse, shape.batch * shape.headsQ * shape.seqQ);
  return problem;
}

function option(what: string, hint: string): EvolverError {
  return new EvolverError("ATTENTION_OPTION", what, { hint });
}
