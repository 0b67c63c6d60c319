/** How well the cost model predicts measured times, and what ordering by it saves. */

import * as v from "valibot";
import type { Kept } from "./document.ts";
import { list, number, positive, record, text } from "./schema.ts";

const agreement = record({
  candidates: number,
  spearman: number,
  medianError: number,
  error90: number,
});

const halves = record({ fitted: agreement, "held out": agreement, all: agreement });

export const costModelSchema = record({
  profile: text,
  deviceName: text,
  /** Of the measured times, which another file has. */
  origin: v.nullable(record({ date: text, commit: v.nullable(text), gpu: v.nullable(text) })),
  constants: v.record(text, number),
  agreement: halves,
  shapes: list(
    record({
      shape: text,
      agreement: halves,
      entries: list(
        record({
          id: text,
          half: v.picklist(["fitted", "held out"], "fitted or held out"),
          measuredMs: positive,
          predictedMs: positive,
        }),
      ),
    }),
  ),
  worst: list(record({ id: text, shape: text, about: text, ratio: positive, guess: text })),
});

export const orderingSchema = record({
  seeds: positive,
  within: list(number),
  budgets: list(number),
  rows: list(
    record({
      shape: text,
      candidates: positive,
      proposals: positive,
      measurements: list(number),
      bestAfter: list(number),
    }),
  ),
});

export type Agreement = v.InferOutput<typeof agreement>;
export type CostModelEvidence = Kept<v.InferOutput<typeof costModelSchema>>;
export type OrderingEvidence = Kept<v.InferOutput<typeof orderingSchema>>;
