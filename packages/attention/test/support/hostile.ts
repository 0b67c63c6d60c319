/** Inputs that have broken attention kernels elsewhere, each as a small problem with a name. */

import { createProblem, randomInputs } from "@evolver/attention";
import type { AttentionProblem, FloatInputs, ProblemOptions } from "@evolver/attention";
import { squareShape } from "./problems.ts";

export interface HostileCase {
  readonly name: string;
  readonly problem: AttentionProblem;
  readonly inputs: FloatInputs;
}

function named(
  name: string,
  problem: AttentionProblem,
  options: Partial<Parameters<typeof randomInputs>[1]> = {},
): HostileCase {
  return { name, problem, inputs: randomInputs(problem, { seed: 7, ...options }) };
}

/** `heads` heads of (seqQ, seqK) in 8 dimensions. */
function lengths(heads: number, seqQ: number, seqK: number, options: ProblemOptions = {}): AttentionProblem {
  return createProblem(squareShape(heads, seqQ, seqK, 8), options);
}

const causal = { mask: { kind: "causal" } } as const;
const window = (left: number, right: number): ProblemOptions => ({ window: [left, right] });

export function maskCases(): HostileCase[] {
  return [
    named("(34, 1) causal: 33 rows see nothing", lengths(2, 34, 1, causal)),
    named("(2, 5) causal", lengths(2, 2, 5, causal)),
    named("(5, 2) causal: 3 rows see nothing", lengths(2, 5, 2, causal)),
    named("(2, 3) causal", lengths(2, 2, 3, causal)),
    named("(1, 33) causal", lengths(1, 1, 33, causal)),
    named("(33, 65) causal", lengths(1, 33, 65, causal)),
    named("(65, 33) causal", lengths(1, 65, 33, causal)),
    named("window [3, 0]: leading keys masked in live rows", lengths(1, 70, 70, window(3, 0))),
    named("window [0, 3]: nothing to the left", lengths(1, 40, 37, window(0, 3))),
    named("window [0, 0]: one key per row", lengths(1, 9, 9, window(0, 0))),
    named("window [1, 1] beyond both ends", lengths(1, 20, 6, window(1, 1))),
    named("window [∞, 0]", lengths(1, 20, 25, window(Infinity, 0))),
    named("window [∞, ∞]", lengths(1, 9, 40, window(Infinity, Infinity))),
    named("window [2^40, 2^40]", lengths(1, 9, 40, window(2 ** 40, 2 ** 40))),
    named("window that no row reaches into", lengths(1, 3, 40, window(0, 0))),
  ];
}

export function scoreCases(): HostileCase[] {
  const one = lengths(1, 3, 1, { scale: 1 });
  return [
    named("logits from −1e4 to −2.45e5", lengths(1, 4, 40, { scale: 1 }), { distribution: "deep" }),
    named("deep logits, causal", lengths(1, 40, 40, { scale: 0.125, ...causal }), { distribution: "deep" }),
    {
      name: "one key at −524288",
      problem: one,
      inputs: {
        q: new Float32Array(24).fill(-65536),
        k: new Float32Array(8).fill(1),
        v: randomInputs(one, { seed: 3 }).v,
      },
    },
    named("scores that are almost equal", lengths(1, 4, 50), { distribution: "flat" }),
    named("outliers", lengths(2, 20, 50), { distribution: "outlier" }),
    named("a softcap", lengths(2, 20, 50, { softcap: 2, scale: 1 })),
    named("a softcap that caps all", lengths(1, 4, 50, { softcap: 30, scale: 1 }), { distribution: "deep" }),
    named("a softcap, causal", lengths(2, 9, 5, { softcap: 15, ...causal })),
    named("a negative scale", lengths(1, 9, 50, { scale: -0.7 })),
    named("a negative scale with a softcap", lengths(1, 9, 50, { scale: -0.7, softcap: 3 })),
    named("a scale of 0", lengths(1, 9, 50, { scale: 0 })),
    named("a scale of 0, causal", lengths(1, 9, 5, { scale: 0, ...causal })),
  ];
}

export function memoryCases(): HostileCase[] {
  const shape = { batch: 2, headsQ: 4, headsKv: 2, seqQ: 9, seqK: 21, dim: 8 };
  const sequenceFirst = { q: [9 * 32, 8, 32, 1], o: [9 * 32, 8, 32, 1] } as const;
  return [
    named("NaN behind every tensor", createProblem(shape), { padding: 100 }),
    named(
      "NaN between rows",
      createProblem(shape, {
        strides: { q: [500, 120, 13, 1], k: [700, 333, 11, 1], v: [555, 275, 13, 1], o: [400, 100, 11, 1] },
      }),
      { padding: 50 },
    ),
    named(
      "NaN between elements",
      createProblem(shape, {
        strides: {
          q: [1200, 300, 32, 3],
          k: [1200, 600, 26, 3],
          v: [1200, 600, 26, 3],
          o: [900, 200, 20, 2],
        },
      }),
    ),
    named(
      "q and o [batch, seq, heads, dim], k [batch, heads, dim, seq]",
      createProblem(shape, { strides: { ...sequenceFirst, k: [336, 168, 1, 21] } }),
    ),
    named(
      "k and v as views into one chunked tensor",
      createProblem(shape, { strides: { k: [21 * 64, 8, 64, 1], v: [21 * 64, 8, 64, 1] } }),
      { padding: 16 },
    ),
    named(
      "rows that are aligned to nothing",
      createProblem(shape, { strides: { k: [999, 333, 9, 1], v: [777, 333, 9, 1] } }),
    ),
    named(
      "keys repeated over the batch by a stride of 0",
      createProblem(shape, { strides: { k: [0, 168, 8, 1], v: [0, 168, 8, 1] } }),
    ),
    named("6 heads on 2", createProblem({ ...shape, headsQ: 6 })),
    named("7 heads on 1, causal", createProblem({ ...shape, headsQ: 7, headsKv: 1 }, causal)),
  ];
}

export function emptyCases(): HostileCase[] {
  const shape = { batch: 2, headsQ: 4, headsKv: 2, seqQ: 9, seqK: 21, dim: 8 };
  return [
    named("no queries", createProblem({ ...shape, seqQ: 0 })),
    named("no keys", createProblem({ ...shape, seqK: 0 })),
    named("no keys, causal", createProblem({ ...shape, seqK: 0 }, causal)),
    named("neither", createProblem({ ...shape, seqQ: 0, seqK: 0 })),
    named("no batch", createProblem({ ...shape, batch: 0 })),
    named("no heads", createProblem({ ...shape, headsQ: 0, headsKv: 0 })),
    named("one of everything", createProblem({ batch: 1, headsQ: 1, headsKv: 1, seqQ: 1, seqK: 1, dim: 1 })),
  ];
}

export const DIMS = [8, 40, 59, 80, 96, 111, 128, 256] as const;

export function dimCases(dims: readonly number[] = DIMS): HostileCase[] {
  return dims.map((dim) => named(`dim ${dim}`, createProblem(squareShape(2, 10, 37, dim), causal)));
}
