/** The text form of an attention problem: `B1,Hq8,Hkv4,S512,D32,causal` or `…,Sq64,Sk512,window:128:0,softcap:30`. */

import {
  denseProblemStrides,
  type AttentionProblem,
  type AttentionShape,
  type Mask,
} from "@evolver/attention";
import { EvolverError } from "@evolver/kernel";

/** Sizes beyond these are refused: the simulator and the float64 reference would take hours. */
const LIMITS: AttentionShape = {
  batch: 4096,
  headsQ: 1024,
  headsKv: 1024,
  seqQ: 131_072,
  seqK: 131_072,
  dim: 256,
};

const KEYS: Readonly<Record<string, readonly (keyof AttentionShape)[]>> = {
  b: ["batch"],
  h: ["headsQ", "headsKv"],
  hq: ["headsQ"],
  hkv: ["headsKv"],
  s: ["seqQ", "seqK"],
  sq: ["seqQ"],
  sk: ["seqK"],
  d: ["dim"],
};

const FORM =
  "write it as B1,Hq8,Hkv4,S512,D32, with Sq and Sk apart if they differ, then causal, window:LEFT:RIGHT, softcap:X or scale:X";

/**
 * @returns the problem with dense strides; batch is 1 and headsKv is headsQ unless given
 * @throws EvolverError SHAPE_INVALID
 */
export function parseShape(text: string): AttentionProblem {
  const extents: Partial<Record<keyof AttentionShape, number>> = {};
  let mask: Mask = { kind: "full" };
  let softcap = 0;
  let scale: number | null = null;
  for (const part of text.split(",").map((item) => item.trim())) {
    const extent = /^([a-z]+)(\d+)$/i.exec(part);
    const names = extent ? KEYS[(extent[1] as string).toLowerCase()] : undefined;
    if (extent && names) {
      for (const name of names)
        if (names.length === 1 || extents[name] === undefined) extents[name] = Number(extent[2]);
    } else if (part === "causal" || part === "full") mask = { kind: part };
    else if (part.startsWith("window:")) mask = parseWindow(part, text);
    else if (part.startsWith("softcap:")) softcap = parseNumber(part, text, (value) => value >= 0);
    else if (part.startsWith("scale:")) scale = parseNumber(part, text, () => true);
    else throw invalid(text, `"${part}" is not understood`);
  }
  const { batch = 1, headsQ, headsKv = headsQ, seqQ, seqK, dim } = extents;
  if (
    headsQ === undefined ||
    headsKv === undefined ||
    seqQ === undefined ||
    seqK === undefined ||
    dim === undefined
  ) {
    throw invalid(
      text,
      "heads (H or Hq), sequence (S, or Sq and Sk) and head dimension (D) must all be there",
    );
  }
  const shape = { batch, headsQ, headsKv, seqQ, seqK, dim };
  return problemOf(shape, mask, softcap, scale, text);
}

/** A dense problem of checked extents. @throws EvolverError SHAPE_INVALID */
export function problemOf(
  shape: AttentionShape,
  mask: Mask,
  softcap: number,
  scale: number | null,
  text: string,
): AttentionProblem {
  for (const [name, limit] of Object.entries(LIMITS) as [keyof AttentionShape, number][]) {
    const value = shape[name];
    if (!Number.isInteger(value) || value < 1 || value > limit)
      throw invalid(text, `${name} is ${value}, and must be from 1 to ${limit}`);
  }
  if (shape.headsQ % shape.headsKv !== 0)
    throw invalid(text, `${shape.headsQ} query heads do not divide among ${shape.headsKv} key heads`);
  return {
    shape,
    mask,
    scale: Math.fround(scale ?? 1 / Math.sqrt(shape.dim)),
    softcap,
    strides: denseProblemStrides(shape),
  };
}

/** The normal form of a problem's text, which `parseShape` reads back. */
export function printShape(problem: AttentionProblem): string {
  const { batch, headsQ, headsKv, seqQ, seqK, dim } = problem.shape;
  const parts = [
    `B${batch}`,
    `Hq${headsQ}`,
    `Hkv${headsKv}`,
    ...(seqQ === seqK ? [`S${seqQ}`] : [`Sq${seqQ}`, `Sk${seqK}`]),
    `D${dim}`,
  ];
  if (problem.mask.kind === "causal") parts.push("causal");
  if (problem.mask.kind === "window") parts.push(`window:${problem.mask.left}:${problem.mask.right}`);
  if (problem.softcap > 0) parts.push(`softcap:${problem.softcap}`);
  if (problem.scale !== Math.fround(1 / Math.sqrt(dim))) parts.push(`scale:${problem.scale}`);
  return parts.join(",");
}

function parseWindow(part: string, text: string): Mask {
  const match = /^window:(\d+):(\d+)$/.exec(part);
  if (!match) throw invalid(text, `"${part}" is not window:LEFT:RIGHT`);
  return { kind: "window", left: Number(match[1]), right: Number(match[2]) };
}

function parseNumber(part: string, text: string, accept: (value: number) => boolean): number {
  const value = Number(part.slice(part.indexOf(":") + 1) || Number.NaN);
  if (!Number.isFinite(value) || !accept(value)) throw invalid(text, `"${part}" has no proper number`);
  return value;
}

const invalid = (text: string, what: string): EvolverError =>
  new EvolverError("SHAPE_INVALID", `the shape "${text}" is not one: ${what}`, { hint: FORM });
