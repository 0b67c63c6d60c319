/** How well the cost model predicts measured times, and what ordering by it saves. */

import * as v from "valibot";
import type { Kept } from "./document.ts";
import { number, positive, text } from "./schema-parts.ts";

const agreement = v.object({
  candidates: number,
  spearman: number,
  medianError: number,
  error90: number,
});

const halves = v.object({ fitted: agreement, "held out": agreement, all: agreement });

export const costModelSchema = v.object({
  profile: text,
  deviceName: text,
  /** Of the measured times, which another file has. */
  origin: v.nullable(v.object({ date: text, commit: v.nullable(text), gpu: v.nullable(text) })),
  constants: v.record(text, number),
  agreement: halves,
  shapes: v.array(
    v.object({
      shape: text,
      agreement: halves,
      entries: v.array(
        v.object({
          id: text,
          half: v.picklist(["fitted", "held out"]),
          measuredMs: positive,
          predictedMs: positive,
        }),
      ),
    }),
  ),
  worst: v.array(v.object({ id: text, shape: text, about: text, ratio: positive, guess: text })),
});

export const orderingSchema = v.object({
  seeds: positive,
  within: v.array(number),
  budgets: v.array(number),
  rows: v.array(
    v.object({
      shape: text,
      candidates: positive,
      proposals: positive,
      measurements: v.array(number),
      bestAfter: v.array(number),
    }),
  ),
});

export type Agreement = v.InferOutput<typeof agreement>;
export type CostModelEvidence = Kept<v.InferOutput<typeof costModelSchema>>;
export type OrderingEvidence = Kept<v.InferOutput<typeof orderingSchema>>;
