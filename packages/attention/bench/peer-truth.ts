/** What outputs are compared with: PyTorch's float64 attention on the GPU, or, without it, ours on some heads. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { attentionTruth, compareWithTruth, createProblem } from "@evolver/attention";
import type { AttentionProblem, FloatInputs } from "@evolver/attention";
import { EvolverError } from "@evolver/base";
import type { TorchLoaded, TorchWorker } from "./torch-worker.ts";

interface Compared {
  /** The largest absolute error of o; null where o is not finite. */
  readonly error: number | null;
  readonly verified: boolean;
}

export interface Truth extends TorchLoaded {
  /** For people: what the truth is, and of how much. */
  readonly title: string;
  /** @param o [batch, headsQ, seqQ, dim], dense @param lse [batch, headsQ, seqQ] */
  compare(o: Float32Array, lse: Float32Array): Promise<Compared>;
}

/** Floating-point operations of the reference for one problem: some seconds. */
const REFERENCE_BUDGET = 6e8;

/** Gives the worker the inputs; its truth covers all of o. */
export async function torchTruth(
  torch: TorchWorker,
  problem: AttentionProblem,
  inputs: FloatInputs,
  folder: string,
): Promise<Truth> {
  const { shape, mask, scale, softcap } = problem;
  if (mask.kind === "window" || softcap > 0)
    throw new EvolverError("PEER_UNSUPPORTED", "PyTorch's attention has no window and no softcap", {
      hint: "leave them out, or measure without PyTorch: --no-torch",
    });
  for (const name of ["q", "k", "v"] as const) writeFloats(join(folder, `${name}.f32`), inputs[name]);
  const loaded = await torch.ask("load", { folder, shape, causal: mask.kind === "causal", scale });
  const file = join(folder, "o.f32");
  const bound = widerBound(loaded.bound, problem, inputs);
  return {
    ...loaded,
    bound,
    title: "PyTorch's float64 attention, all of o",
    async compare(o) {
      writeFloats(file, o);
      const { maxError } = await torch.ask("check", { file });
      return { error: maxError, verified: maxError !== null && maxError <= bound };
    },
  };
}

/**
 * PyTorch's plain float32 attention is one sample of honest rounding errors, of all rows. Ours has several orders of summation,
 * of some heads. What either comes to passes.
 */
export const widerBound = (torchBound: number, problem: AttentionProblem, inputs: FloatInputs): number =>
  Math.max(torchBound, headTruth(problem, inputs).bound);

function writeFloats(file: string, data: Float32Array): void {
  writeFileSync(file, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

/** The float64 reference on as many heads as the budget allows, spread evenly. */
export function headTruth(problem: AttentionProblem, inputs: FloatInputs): Truth {
  const { batch, headsQ, headsKv, seqQ, seqK, dim } = problem.shape;
  const heads = batch * headsQ;
  const affordable = Math.max(1, Math.floor(REFERENCE_BUDGET / (4 * seqQ * seqK * dim)));
  const count = Math.min(heads, affordable);
  const { mask, scale, softcap } = problem;
  const single = createProblem(
    { batch: 1, headsQ: 1, headsKv: 1, seqQ, seqK, dim },
    { mask, scale, softcap },
  );
  const truths = Array.from({ length: count }, (_, i) => {
    const head = Math.floor((i * heads) / count);
    const keyHead = Math.floor(head / headsQ) * headsKv + Math.floor((head % headsQ) / (headsQ / headsKv));
    const of = (data: Float32Array, index: number, rows: number): Float32Array =>
      data.subarray(index * rows * dim, (index + 1) * rows * dim);
    const own = {
      q: of(inputs.q, head, seqQ),
      k: of(inputs.k, keyHead, seqK),
      v: of(inputs.v, keyHead, seqK),
    };
    return { head, truth: attentionTruth(single, own) };
  });
  return {
    title: `float64 reference, ${count === heads ? "all of o and lse" : `${count} of ${heads} heads of o and lse`}`,
    bound: Math.max(...truths.map(({ truth }) => truth.bound)),
    variants: [],
    refused: [],
    async compare(o, lse) {
      const each = truths.map(({ head, truth }) =>
        compareWithTruth(single, truth, {
          o: o.subarray(head * seqQ * dim, (head + 1) * seqQ * dim),
          lse: lse.subarray(head * seqQ, (head + 1) * seqQ),
        }),
      );
      const error = Math.max(...each.map((compared) => compared.error));
      // Heads that are not compared must at least have been written.
      const finite = o.every((value) => Number.isFinite(value));
      return {
        error: finite && Number.isFinite(error) ? error : null,
        verified: finite && each.every(({ pass }) => pass),
      };
    },
  };
}
