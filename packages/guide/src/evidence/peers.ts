/** What the benchmark beside other libraries measured: rungs, further points and PyTorch's entries, in turn. */

import * as v from "valibot";
import type { Point } from "@evolver/lab";
import type { Kept } from "./document.ts";
import { flag, knownIn, once, pointIn, positive, text } from "./schema-parts.ts";
import type { MeasuredStudy } from "./study.ts";

export interface PeerEntry {
  readonly id: string;
  readonly kind: "rung" | "point" | "torch";
  readonly point: Point | null;
  readonly kernels: readonly string[];
  readonly timeMs: number;
  readonly tflops: number;
  /** By the roofs that the benchmark was given; null where it had none. */
  readonly shareOfPeak: number | null;
  readonly shareOfBandwidth: number | null;
  /** Its output is within the tolerance that our rungs are held to. */
  readonly verified: boolean;
  readonly ofFastestTorch: number | null;
  readonly ofTorchMath: number | null;
}

export interface PeerShape {
  readonly shape: string;
  readonly compulsoryBytes: number;
  readonly entries: readonly PeerEntry[];
  readonly refused: readonly { readonly id: string; readonly why: string }[];
  readonly fastestTorch: string | null;
}

export type Peers = Kept<{
  readonly deviceName: string;
  /** PyTorch's version; null where it was measured without. */
  readonly torch: string | null;
  readonly rounds: number;
  readonly shapes: readonly PeerShape[];
  readonly failures: readonly { readonly shape: string; readonly why: string }[];
}>;

const entrySchema = (study: MeasuredStudy) =>
  v.pipe(
    v.object({
      id: text,
      kind: v.picklist(["rung", "point", "torch"]),
      point: v.nullable(pointIn(study.axes)),
      kernels: v.nullable(v.array(text)),
      timeMs: v.object({ median: positive }),
      tflops: positive,
      shareOfPeak: v.nullable(positive),
      shareOfBandwidth: v.nullable(positive),
      verified: flag,
      ofFastestTorch: v.nullable(positive),
      ofTorchMath: v.nullable(positive),
    }),
    v.transform(({ kernels, timeMs, ...entry }) => ({
      ...entry,
      kernels: kernels ?? [],
      timeMs: timeMs.median,
    })),
  );

export const peersSchema = (study: MeasuredStudy) =>
  v.pipe(
    v.object({
      deviceName: text,
      torch: v.nullable(v.object({ torch: text })),
      rounds: positive,
      shapes: v.pipe(
        v.array(
          v.object({
            shape: text,
            compulsoryBytes: positive,
            entries: v.pipe(
              v.array(entrySchema(study)),
              knownIn(
                "id",
                study.rungs.map(({ id }) => id),
                ({ kind }) => kind === "rung",
              ),
              once("id", ({ kind }) => kind),
            ),
            refused: v.array(v.object({ id: text, why: text })),
            fastestTorch: v.nullable(text),
          }),
        ),
        once("shape"),
      ),
      failures: v.array(v.object({ shape: text, why: text })),
    }),
    v.transform(({ torch, ...report }) => ({ ...report, torch: torch?.torch ?? null })),
  );

/** The shape of a report's input, which may say more behind it: "B1,…,D64, random data". */
export function shapeIn(peers: Peers | null, input: string): PeerShape | null {
  return peers?.shapes.find(({ shape }) => input === shape || input.startsWith(`${shape}, `)) ?? null;
}

/** PyTorch's entries on an input. */
export const torchOn = (peers: Peers | null, input: string): readonly PeerEntry[] =>
  (shapeIn(peers, input)?.entries ?? []).filter(({ kind }) => kind === "torch");
