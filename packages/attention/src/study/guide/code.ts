/** The code that the guide shows of each rung: parts of the axes' source files, and the loop over tiles as CUDA. */

import { attentionPlan, type AttentionRung, type ClaimCase } from "@evolver/attention";
import { CLAIM_SUBGROUP } from "@evolver/device";
import { difference, type CodeBlock } from "@evolver/guide";
import { emit } from "@evolver/kernel";
import { sourceOf, type SourcePart } from "./sources.ts";
import type { Subject } from "./subject.ts";

interface ShownPart extends SourcePart {
  /** What it is, without the colon. */
  readonly about: string;
  /** What it takes the place of; the two are shown as a difference. */
  readonly insteadOf?: SourcePart;
}

/** By rung. Rungs that only change numbers have none: their emitted code shows what that does. */
const PARTS: Readonly<Record<string, readonly ShownPart[]>> = {
  k01: [
    {
      about:
        "The scores, in `flash/kernel.ts`. All rungs record this loop, with as many rows and keys per lane as they have",
      file: "kernel.ts",
      from: "#scores(",
    },
    { about: "The online softmax of a row, in `flash/softmax.ts`", file: "softmax.ts", from: "update(" },
    {
      about:
        "The outputs, in `flash/kernel.ts`. Only where the mask cuts through a tile, rows leave out keys",
      file: "kernel.ts",
      from: "#addValues(",
    },
  ],
  k02: [
    {
      about:
        "The loop over tiles, in `pipeline/synchronous.ts`. In k01 `stage.copies` is null, here it copies",
      file: "axes/pipeline/synchronous.ts",
      from: "run(",
    },
  ],
  k04: [
    {
      about: "The layout of the K tile, `layout/padded.ts` instead of `layout/row-major.ts`",
      file: "axes/layout/padded.ts",
      insteadOf: { file: "axes/layout/row-major.ts" },
    },
  ],
  k05: [
    {
      about: "The loop over tiles, `pipeline/double-buffered.ts` instead of `pipeline/synchronous.ts`",
      file: "axes/pipeline/double-buffered.ts",
      from: "run(",
      insteadOf: { file: "axes/pipeline/synchronous.ts", from: "run(" },
    },
  ],
  k06: [{ about: "The loop over tiles, in `pipeline/ring.ts`", file: "axes/pipeline/ring.ts", from: "run(" }],
  k07: [
    {
      about: "What the copying subgroups do with tile i, in `pipeline/roles.ts`",
      file: "axes/pipeline/roles.ts",
      from: "const produce =",
    },
    { about: "And the computing ones", file: "axes/pipeline/roles.ts", from: "const consume =" },
  ],
  k08: [
    {
      about:
        "Which tiles a workgroup computes, `schedule/persistent.ts` instead of `schedule/one-workgroup-per-tile.ts`",
      file: "axes/schedule/persistent.ts",
      from: "forEachTile",
      insteadOf: { file: "axes/schedule/one-workgroup-per-tile.ts", from: "forEachTile" },
    },
  ],
  k09: [
    {
      about: "Which rows a tile has, `heads/packed.ts` instead of `heads/by-index.ts`",
      file: "axes/heads/packed.ts",
      from: "place(",
      insteadOf: { file: "axes/heads/by-index.ts", from: "place(" },
    },
  ],
  k11: [
    {
      about: "The loop over tiles, in `pipeline/staggered.ts`",
      file: "axes/pipeline/staggered.ts",
      from: "run(",
    },
    {
      about:
        "How lanes get the probabilities of others, `exchange/shared.ts` instead of `exchange/shuffle.ts`",
      file: "axes/exchange/shared.ts",
      from: "export const throughShared",
    },
  ],
};

/** Changed lines of emitted code beyond which it is no longer worth reading. */
const MOST_CHANGES = 40;

/** @param common the problem that all rungs are compared on */
export function codeOf({ rung, base }: Subject, common: ClaimCase): CodeBlock[] {
  const parts = (PARTS[rung.id] ?? []).map(blockOf);
  const loop = tileLoop(rung, common);
  if (base === null)
    return [
      ...parts,
      { about: "The loop over tiles in the emitted CUDA:", language: "cuda", text: dedented(loop) },
    ];
  const before = tileLoop(base, common);
  const changed = difference(dedented(before), dedented(loop), { context: 1, key: withoutNumbers });
  if (changed.changed === 0 || changed.changed > MOST_CHANGES) return parts;
  return [
    ...parts,
    {
      about: `The loop over tiles in the emitted CUDA, beside ${base.id}'s:`,
      language: "diff",
      text: changed.text,
    },
  ];
}

function blockOf({ about, insteadOf, ...part }: ShownPart): CodeBlock {
  if (insteadOf === undefined) return { about: `${about}:`, language: "typescript", text: sourceOf(part) };
  const { text } = difference(sourceOf(insteadOf), sourceOf(part));
  return { about: `${about}:`, language: "diff", text };
}

/** The longest loop of the kernel, and so the one over tiles, in the emitted CUDA. */
function tileLoop({ point }: AttentionRung, { problem }: ClaimCase): string[] {
  const build = { subgroup: CLAIM_SUBGROUP, forwardProgress: true, writeLse: false };
  const [ir] = attentionPlan(point, problem, build).kernels;
  if (ir === undefined) return [];
  const lines = emit(ir, "cuda").source.split("\n");
  const loops = lines.flatMap((line, start) => {
    const depth = indentation(line);
    if (!/^\s+for \(/.test(line)) return [];
    const end = lines.findIndex((other, i) => i > start && indentation(other) === depth);
    return [lines.slice(start, end + 1)];
  });
  return loops.reduce((longest, loop) => (loop.length > longest.length ? loop : longest), []);
}

const indentation = (line: string): number => line.length - line.trimStart().length;

function dedented(lines: readonly string[]): string {
  const depth = indentation(lines[0] ?? "");
  return lines.map((line) => line.slice(depth)).join("\n");
}

/** Emitted names that differ in nothing but a number are the same name, and so are the counters of loops. */
const withoutNumbers = (line: string): string =>
  line
    .trim()
    .replaceAll(/([A-Za-z_])\d+(?=\b|[A-Z])/g, "$1")
    .replaceAll(/\b[ijk]\b/g, "i");
