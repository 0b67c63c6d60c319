/** What an attention candidate is verified on: the objective, and small problems that probe the edges. */

import {
  attentionTruth,
  elementCount,
  extentsOf,
  randomInputs,
  type AttentionProblem,
  type Distribution,
  type FloatInputs,
} from "@evolver/attention";
import { deriveSeed, Random } from "@evolver/base";
import type { Case, Truth, Shape } from "@evolver/lab";
import type { OpenedInput } from "./input.ts";
import { parseShape, printShape } from "./shape.ts";

/** The shape of a case, as plans see it: the problem in its text form. */
export type AttentionCaseShape = Shape & string;

interface Probe {
  readonly distribution: Distribution;
  readonly kind: Case["kind"];
  /** Extents that differ from the objective's; heads, head dimension, softcap and mask are as there. */
  readonly seqQ: number;
  readonly seqK: number;
  readonly checks: Case["checks"];
}

/** Ragged, short, long queries with few keys and the reverse, and every distribution; small cases run with all of the simulator's checks. */
const PROBES: Readonly<Record<string, Probe>> = {
  ragged: { distribution: "normal", kind: "random", seqQ: 19, seqK: 37, checks: "full" },
  "more queries than keys": { distribution: "normal", kind: "hostile", seqQ: 34, seqK: 5, checks: "full" },
  "one query": { distribution: "normal", kind: "hostile", seqQ: 1, seqK: 67, checks: "full" },
  outliers: { distribution: "outlier", kind: "random", seqQ: 65, seqK: 129, checks: "fast" },
  "deep scores": { distribution: "deep", kind: "hostile", seqQ: 7, seqK: 33, checks: "fast" },
  "equal scores": { distribution: "flat", kind: "hostile", seqQ: 9, seqK: 70, checks: "fast" },
};

/** Heads of the probes under full checks: one group of query heads is enough to see a wrong mapping. */
const PROBE_KEY_HEADS = 2;

export function attentionCases(input: OpenedInput, seed: number): readonly Case<AttentionCaseShape>[] {
  const group = input.problem.shape.headsQ / input.problem.shape.headsKv;
  const headsKv = Math.min(PROBE_KEY_HEADS, input.problem.shape.headsKv);
  return Object.entries(PROBES).map(([id, probe], k) => {
    const shape = {
      ...input.problem.shape,
      batch: 1,
      headsQ: headsKv * Math.min(group, 2),
      headsKv,
      seqQ: probe.seqQ,
      seqK: probe.seqK,
    };
    const problem = parseShape(printShape({ ...input.problem, shape }));
    const data = randomInputs(problem, { seed: seed + k, distribution: probe.distribution });
    return attentionCase(id, problem, data, { kind: probe.kind, seed, checks: probe.checks });
  });
}

/** The case that is timed: the file's data, or random data of the seed. */
export function objectiveCase(input: OpenedInput, seed: number): Case<AttentionCaseShape> {
  const data = input.data ?? randomInputs(input.problem, { seed });
  const kind = input.data === null ? "random" : "hostile";
  return attentionCase("objective", input.problem, data, { kind, seed, checks: "fast" });
}

function attentionCase(
  id: string,
  problem: AttentionProblem,
  { q, k, v }: FloatInputs,
  rest: Pick<Case, "kind" | "seed" | "checks">,
): Case<AttentionCaseShape> {
  const { batch, headsQ, seqQ } = problem.shape;
  return {
    id,
    shape: printShape(problem),
    inputs: { q, k, v },
    outputs: {
      o: { element: "f32", length: elementCount(extentsOf(problem.shape).o) },
      lse: { element: "f32", length: batch * headsQ * seqQ },
    },
    ...rest,
  };
}

/** Floating-point operations that the truth of a case may take: about a second in JavaScript. */
const TRUTH_FLOPS = 2e8;
/** Rows of a large case whose truth is known, at least. */
const FEWEST_ROWS = 256;

/**
 * The float64 truth with FlashAttention-3's tolerance. For a large problem only some rows are computed: the first, the last,
 * and others that the case's seed chooses.
 */
export function expectedOf(input: Case<AttentionCaseShape>): Readonly<Record<string, Truth>> {
  const problem = parseShape(input.shape);
  const { q, k, v } = input.inputs as { q: Float32Array; k: Float32Array; v: Float32Array };
  const chosen = chosenRows(problem, input.seed);
  const { reference, bound, lseBound } = attentionTruth(problem, { q, k, v }, chosen ?? undefined);
  const truth = (values: Float64Array, limit: number): Truth => {
    if (chosen === null) return { values, bound: limit };
    const known = new Uint8Array(values.length);
    const width = values.length / reference.lse.length;
    for (const row of chosen) known.fill(1, row * width, (row + 1) * width);
    return { values, bound: limit, known };
  };
  return { o: truth(reference.o, bound), lse: truth(reference.lse, lseBound) };
}

/** Rows chosen by the seed: one from each of equal sections, and the first and the last of all. Null where all can be computed. */
export function chosenRows(problem: AttentionProblem, seed: number): ReadonlySet<number> | null {
  const { batch, headsQ, seqQ, seqK, dim } = problem.shape;
  const rows = batch * headsQ * seqQ;
  const affordable = Math.max(FEWEST_ROWS, Math.floor(TRUTH_FLOPS / (4 * Math.max(1, seqK * dim))));
  if (affordable >= rows) return null;
  const random = new Random(deriveSeed(seed, "rows"));
  const stretch = (i: number): number => Math.floor((i * rows) / affordable);
  const drawn = Array.from({ length: affordable }, (_, i) => {
    const [from, to] = [stretch(i), stretch(i + 1)];
    return from + random.below(to - from);
  });
  return new Set([0, ...drawn.slice(1, -1), rows - 1]);
}
