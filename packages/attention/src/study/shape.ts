/** The text form of an attention problem: `B1,Hq8,Hkv4,S512,D32,causal` or `…,Sq64,Sk512,window:128:0,softcap:30`. */

import {
  denseProblemStrides,
  type AttentionProblem,
  type AttentionShape,
  type ClaimCase,
  type Mask,
} from "@evolver/attention";
import { EvolverError } from "@evolver/base";

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

/** What each extent is called in a shape, and what it counts. */
export const EXTENT_NAMES: Readonly<Record<keyof AttentionShape, string>> = {
  batch: "B (the batch)",
  headsQ: "Hq (query heads)",
  headsKv: "Hkv (key heads)",
  seqQ: "Sq (query rows)",
  seqK: "Sk (keys)",
  dim: "D (the head dimension)",
};

const FORM =
  "write it as B1,Hq8,Hkv4,S512,D32, with Sq and Sk apart if they differ, then causal, window:LEFT:RIGHT, softcap:X or scale:X";

/**
 * @returns the problem with dense strides; batch is 1 and headsKv is headsQ unless given
 * @throws EvolverError SHAPE_INVALID
 */
export function parseShape(text: string): AttentionProblem {
  const extents: Partial<Record<keyof AttentionShape, number>> = {};
  const given = new Set<string>();
  let mask: Mask = { kind: "full" };
  let softcap = 0;
  let scale: number | null = null;
  for (const part of text.split(",").map((item) => item.trim())) {
    const extent = /^([a-z]+)(\d+)$/i.exec(part);
    const key = extent?.[1]?.toLowerCase() ?? "";
    const names = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
    let kind = part.split(":")[0] as string;
    if (extent && names) {
      kind = extent[1] as string;
      for (const name of names)
        if (names.length === 1 || extents[name] === undefined) extents[name] = Number(extent[2]);
    } else if (kind === "causal" || kind === "full" || kind === "window") {
      mask = parseMask(part) ?? refuse(text, `"${part}" is not causal, full or window:LEFT:RIGHT`);
      kind = "mask";
    } else if (part.startsWith("softcap:")) softcap = parseNumber(part, text);
    else if (part.startsWith("scale:")) scale = parseNumber(part, text);
    else refuse(text, `"${part}" is not understood`);
    if (given.has(kind.toLowerCase())) refuse(text, `"${part}" comes after another ${kind}`);
    given.add(kind.toLowerCase());
  }
  const { batch = 1, headsQ, headsKv = headsQ, seqQ, seqK, dim } = extents;
  if (
    headsQ === undefined ||
    headsKv === undefined ||
    seqQ === undefined ||
    seqK === undefined ||
    dim === undefined
  ) {
    return refuse(
      text,
      "heads (H or Hq), sequence (S, or Sq and Sk) and head dimension (D) must all be there",
    );
  }
  const shape = { batch, headsQ, headsKv, seqQ, seqK, dim };
  return problemOf({ shape, mask, softcap, scale }, (what) => refuse(text, what));
}

export interface ProblemParts {
  readonly shape: AttentionShape;
  readonly mask: Mask;
  readonly softcap: number;
  /** Null for 1/√dim. */
  readonly scale: number | null;
}

/**
 * A dense problem of checked extents and numbers; scale and softcap are rounded to f32, as kernels have them.
 *
 * @param fail throws what is wrong, in terms of where the parts come from
 */
export function problemOf(
  { shape, mask, softcap, scale }: ProblemParts,
  fail: (what: string) => never,
): AttentionProblem {
  for (const [name, limit] of Object.entries(LIMITS) as [keyof AttentionShape, number][]) {
    const value = shape[name];
    if (!Number.isInteger(value) || value < 1 || value > limit)
      fail(`${EXTENT_NAMES[name]} is ${value}, and must be from 1 to ${limit}`);
  }
  if (shape.headsQ % shape.headsKv !== 0)
    fail(`${shape.headsQ} query heads do not divide among ${shape.headsKv} key heads`);
  const rounded = { scale: Math.fround(scale ?? 1 / Math.sqrt(shape.dim)), softcap: Math.fround(softcap) };
  if (!Number.isFinite(rounded.scale)) fail(`the scale ${scale} is not an f32 value`);
  if (!Number.isFinite(rounded.softcap) || softcap < 0 || (rounded.softcap === 0 && softcap > 0))
    fail(`the softcap ${softcap} is not an f32 value from 0 on`);
  return {
    shape,
    mask,
    ...rounded,
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

/** `causal`, `full` or `window:LEFT:RIGHT`; null for anything else. */
export function parseMask(text: string): Mask | null {
  if (text === "causal" || text === "full") return { kind: text };
  const [, left, right] = /^window:(\d{1,9}):(\d{1,9})$/.exec(text) ?? [];
  return left === undefined ? null : { kind: "window", left: Number(left), right: Number(right) };
}

function parseNumber(part: string, text: string): number {
  const value = Number(part.slice(part.indexOf(":") + 1).trim() || Number.NaN);
  return Number.isFinite(value) ? value : refuse(text, `"${part}" has no proper number`);
}

function refuse(text: string, what: string): never {
  throw new EvolverError("SHAPE_INVALID", `the shape "${text}" is not one: ${what}`, { hint: FORM });
}

/** What a rung's claims are proved on, for people. */
export function printClaimCase({ problem, persistentWorkgroups: most }: ClaimCase): string {
  return `${printShape(problem)}${most === undefined ? "" : `, at most ${most} workgroups where they are persistent`}`;
}
