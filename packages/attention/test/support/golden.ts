/** The golden cases and the captured model layers of the data folder as problems, inputs and expected outputs. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readSafetensors, toDense } from "@evolver/attention";
import type { AttentionProblem, AttentionShape, Mask } from "@evolver/attention";
import { dataFolder } from "../../../../test/support/optional.ts";
import { denseProblem } from "./problems.ts";

export const GOLDEN_FILES = ["attention/golden-public.safetensors", "attention/golden-public.json"] as const;
export const LAYER_FILES = [0, 3, 7].map((layer) => `attention/tinystories-3m-layer${layer}.safetensors`);

export interface ExpectedCase {
  readonly name: string;
  readonly problem: AttentionProblem;
  readonly inputs: { readonly q: Float32Array; readonly k: Float32Array; readonly v: Float32Array };
  readonly o: Float32Array;
  readonly lse: Float32Array;
}

export interface GoldenCase extends ExpectedCase {
  readonly emptyRowsPerHead: number;
  /** Largest absolute errors of plain attention in float32 on a GPU. */
  readonly errF32: { readonly o: number; readonly lse: number };
  readonly maxAbs: { readonly o: number; readonly lse: number };
}

interface GoldenEntry {
  readonly batch: number;
  readonly sq: number;
  readonly sk: number;
  readonly heads_q: number;
  readonly heads_kv: number;
  readonly dim: number;
  readonly mask: Mask["kind"];
  readonly window: readonly [number, number] | null;
  readonly softcap: number;
  readonly scale: number;
  readonly empty_rows: number;
  readonly max_abs: { readonly o: number; readonly lse: number };
  readonly err_f32: { readonly o: number; readonly lse: number };
}

export function loadGoldenCases(): GoldenCase[] {
  const [file, index] = GOLDEN_FILES;
  const { tensors } = readSafetensors(readFileSync(join(dataFolder, file)));
  const entries = JSON.parse(readFileSync(join(dataFolder, index), "utf8")) as Record<string, GoldenEntry>;
  return Object.entries(entries).map(([name, entry]) => {
    const tensor = (suffix: string): Float32Array => tensors.get(`${name}/${suffix}`)!.data as Float32Array;
    const shape: AttentionShape = {
      batch: entry.batch,
      headsQ: entry.heads_q,
      headsKv: entry.heads_kv,
      seqQ: entry.sq,
      seqK: entry.sk,
      dim: entry.dim,
    };
    const mask: Mask =
      entry.mask === "window"
        ? { kind: "window", left: entry.window![0], right: entry.window![1] }
        : { kind: entry.mask };
    return {
      name,
      problem: denseProblem(shape, { mask, scale: entry.scale, softcap: entry.softcap }),
      inputs: { q: tensor("q"), k: tensor("k"), v: tensor("v") },
      o: tensor("o"),
      lse: tensor("lse"),
      emptyRowsPerHead: entry.empty_rows,
      errF32: entry.err_f32,
      maxAbs: entry.max_abs,
    };
  });
}

/**
 * Layers of a real model: causal, 8 query heads on 4 key heads, 512 positions of 32 dimensions.
 *
 * @param positions so many of the first ones; causal attention to them does not know of the others
 */
export function loadLayer(file: string, positions = Infinity): ExpectedCase {
  const { tensors, metadata } = readSafetensors(readFileSync(join(dataFolder, file)));
  const [headsQ, length, dim] = tensors.get("q")!.shape as [number, number, number];
  const [headsKv] = tensors.get("k")!.shape as [number];
  const seq = Math.min(length, positions);
  const tensor = (name: string): Float32Array => {
    const { data, shape } = tensors.get(name)!;
    const [heads, , width = 1] = shape as [number, number, number?];
    return toDense(data, [1, heads, seq, width], [0, length * width, width, 1]);
  };
  return {
    name: metadata["source"]!,
    problem: denseProblem(
      { batch: 1, headsQ, headsKv, seqQ: seq, seqK: seq, dim },
      { mask: { kind: "causal" }, scale: Number(metadata["scale"]) },
    ),
    inputs: { q: tensor("q"), k: tensor("k"), v: tensor("v") },
    o: tensor("o"),
    lse: tensor("lse"),
  };
}

/** The distance of two neighbouring float32 values at this magnitude. */
export function ulp(value: number): number {
  const magnitude = Math.abs(Math.fround(value));
  return 2 ** (Math.max(Math.floor(Math.log2(magnitude)), -126) - 23);
}
