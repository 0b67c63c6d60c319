/**
 * The noise test: cycles in which every candidate is the champion itself under another name. A judge that keeps one
 * takes luck for a gain. Prints one JSON document and exits 1 if any was kept.
 *
 *     node packages/attention/bench/noise.ts --device cuda --cycles 50
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { median } from "@evolver/base";
import type { PlanBuild } from "@evolver/device";
import { evolve, readRecords, type Study } from "@evolver/lab";
import type { KernelIR, Node } from "@evolver/kernel";
import { study as attention } from "@evolver/attention/study";

const NAMES = 1000;

/** The same kernel under another name: a variable that nothing reads changes its hash and no instruction. */
function renamed(ir: KernelIR, name: number): KernelIR {
  const { site } = ir;
  const value = { id: ir.valueCount, type: "u32" as const };
  const variable = { id: ir.variableCount, type: "u32" as const, name: "name" };
  const nodes: readonly Node[] = [
    { kind: "const", result: value, value: 0x7000_0000 + name, site },
    ...ir.body.nodes,
    { kind: "var", variable, init: value, site },
  ];
  return { ...ir, valueCount: ir.valueCount + 1, variableCount: ir.variableCount + 1, body: { nodes } };
}

/** The attention study with one axis, the name, on a rung. */
export const noise: Study = {
  ...(attention as Study),
  id: "noise",
  title: "The champion against itself",
  module: import.meta.url,
  export: "noise",
  async open(input, device) {
    const study = await (attention as Study).open(input, device);
    const point = study.named["k04"];
    if (point === undefined) throw new Error("there is no rung k04");
    return Object.assign(Object.create(study) as typeof study, {
      space: {
        axes: [{ name: "name", values: Array.from({ length: NAMES }, (_, i) => i) }],
        whyInvalid: () => null,
      },
      baseline: { name: 0 },
      named: {},
      plan: (named: { name: number }, shape: never, build: PlanBuild) => {
        const plan = study.plan(point, shape, build);
        return { ...plan, kernels: plan.kernels.map((kernel) => renamed(kernel, named.name)) };
      },
      cases: study.cases.bind(study),
      objectiveCase: study.objectiveCase.bind(study),
      expected: study.expected.bind(study),
      measure: study.measure.bind(study),
      explain: () => ({ bottleneck: "nothing but noise", observations: [], axes: ["name"] }),
      describe: (named: { name: number }) => `name ${named.name}`,
      emit: () => [],
    });
  },
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      device: { type: "string", default: "cuda" },
      cycles: { type: "string", default: "50" },
      trials: { type: "string", default: "1" },
      shape: { type: "string", default: "B1,H8,S256,D64" },
      seed: { type: "string", default: "1" },
    },
  });
  const workspace = mkdtempSync(join(tmpdir(), "evolver-noise-"));
  try {
    const result = await evolve(noise, {
      input: { shape: values.shape },
      device: values.device,
      cycles: Number(values.cycles),
      trialsPerCycle: Number(values.trials),
      seed: Number(values.seed),
      agent: "random",
      workspace,
      onEvent: (event) => {
        if (event.kind === "trial" && event.trial.verdict.status !== "ok")
          process.stderr.write(`${event.trial.verdict.status}: ${event.trial.verdict.reason}\n`);
        if (event.kind === "recorded")
          process.stderr.write(`cycle ${event.record.cycle}: ${event.record.outcome.reason}\n`);
      },
    });
    const records = readRecords(workspace).slice(1);
    const trials = records.flatMap(({ trials: each }) => each);
    const gains = trials.flatMap(({ verdict: { timeMs, championTimeMs } }) =>
      timeMs === null || championTimeMs === null ? [] : [1 - timeMs / championTimeMs],
    );
    const document = {
      what: "cycles in which every candidate is the champion under another name",
      device: values.device,
      profile: result.profile,
      shape: values.shape,
      seed: result.seed,
      cycles: records.length,
      trials: trials.length,
      verified: trials.filter(({ verdict }) => verdict.status === "ok").length,
      secondLooks: records.filter(({ outcome }) => outcome.secondLook !== undefined).length,
      kept: records.filter(({ outcome }) => outcome.kept).length,
      /** Relative, of the candidate over the champion; what noise looks like. */
      gains: { smallest: Math.min(...gains), largest: Math.max(...gains) },
      noise: { median: median(trials.map(({ verdict }) => verdict.noise)) },
    };
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    process.exitCode = document.kept === 0 && document.verified === document.trials ? 0 : 1;
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) await main();
