/** What a self-test of a rung is: random inputs drawn by the program, and a judge written by hand in its language. */

import { forwardFlops, type AttentionPlan, type AttentionProblem } from "@evolver/attention";
import type { Selftest, SelftestBuffer } from "@evolver/kernel";
import { attentionJudgeCpp } from "./selftest-cpp.ts";
import { attentionJudgeJs } from "./selftest-js.ts";
import { printShape } from "./shape.ts";

/** Multiply-adds that the judge may spend on double and float attention together: a few seconds. */
const BUDGET = 2e9;
/** Double precision once, float in eight orders of summation, each the scores and the outputs. */
const PASSES = 18;

/** The self-test of a plan of this problem, which must be dense. */
export function attentionSelftest(
  id: string,
  problem: AttentionProblem,
  { workgroups, scalars, scratch }: Pick<AttentionPlan, "workgroups" | "scalars" | "scratch">,
): Selftest {
  const { batch, headsQ, headsKv, seqQ, seqK, dim } = problem.shape;
  const rows = batch * headsQ * seqQ;
  const [query, keys] = [rows * dim, batch * headsKv * seqK * dim];
  const step = rowStep(rows, (PASSES * seqK * dim) / BUDGET, seqQ);
  const normal = (length: number, seed: number) => ({ length, contents: { kind: "normal", seed } as const });
  const unset = (length: number) => ({ length, contents: { kind: "unset" } as const });
  return {
    title: `attention/${id}, ${printShape(problem)}`,
    workgroups: [workgroups, 1, 1],
    args: {
      ...scalars,
      q: normal(query, 1),
      k: normal(keys, 2),
      v: normal(keys, 3),
      o: unset(query),
      lse: unset(rows),
      ...Object.fromEntries(scratch.map(({ name, length }) => [name, leftZero(length)])),
    },
    reference: {
      cpp: `${constantsCpp(problem, step)}\n${attentionJudgeCpp.trim()}${scratch.length > 0 ? judgeWithScratch(scratch.length) : ""}`,
      js: `${constantsJs(problem, step)}\n${attentionJudgeJs.trim()}`,
    },
    flops: forwardFlops(problem),
  };
}

/** Zero before the launch and after it, or the next launch would go wrong. */
const leftZero = (length: number): SelftestBuffer => ({
  length,
  contents: { kind: "zeros" },
  expected: { values: new Uint32Array(length), tolerance: null },
});

/** The judge gets all buffers, but does not need scratch. JavaScript allows calls with more arguments, so only C++ needs this. */
const judgeWithScratch = (count: number): string => `

bool verify(const float* q, const float* k, const float* v, const float* o, const float* lse${", const uint32_t*".repeat(count)}) {
  return verify(q, k, v, o, lse);
}`;

/** 1 where all rows can be checked in time; else a step that reaches every position of the sequence in some head. */
function rowStep(rows: number, costOfRow: number, seqQ: number): number {
  let step = Math.max(1, Math.ceil(rows * costOfRow));
  while (step > 1 && greatestDivisor(step, seqQ) > 1) step++;
  return step;
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

function extents({ shape, mask, scale, softcap }: AttentionProblem, step: number): [string, number][] {
  const { left, right } = mask.kind === "window" ? mask : { left: 0, right: 0 };
  return [
    ["BATCH", shape.batch],
    ["HEADS_Q", shape.headsQ],
    ["HEADS_KV", shape.headsKv],
    ["SEQ_Q", shape.seqQ],
    ["SEQ_K", shape.seqK],
    ["DIM", shape.dim],
    ["LEFT", left],
    ["RIGHT", right],
    ["ROW_STEP", step],
    ["SCALE", scale],
    ["SOFTCAP", softcap],
  ];
}

function constantsCpp(problem: AttentionProblem, step: number): string {
  const lines = extents(problem, step).map(([name, value]) => {
    const isReal = name === "SCALE" || name === "SOFTCAP";
    return `constexpr ${isReal ? "double" : "long"} ${name} = ${value};`;
  });
  return `enum MaskKind { FULL, CAUSAL, WINDOW };
constexpr MaskKind MASK = ${problem.mask.kind.toUpperCase()};
${lines.join("\n")}
`;
}

function constantsJs(problem: AttentionProblem, step: number): string {
  const lines = extents(problem, step).map(([name, value]) => `const ${name} = ${value};`);
  return `const MASK = "${problem.mask.kind}";\n${lines.join("\n")}\n`;
}
