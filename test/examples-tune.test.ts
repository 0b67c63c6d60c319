/** The files of examples/tune: right at every kind of choice, and made faster by a short run of the lab. */

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tunableOf, TunablePlan } from "@evolver/device";
import type { Kernel, Params, Tune } from "@evolver/kernel";
import { lintFiles } from "@evolver/kernel/lint";
import { evolve, openJudgeInProcess, studyOf, verify } from "@evolver/lab";
import { afterAll, describe, expect, test } from "vitest";
import { blackScholes } from "../examples/tune/black-scholes.ts";
import { matmul } from "../examples/tune/matmul.ts";
import { nbody } from "../examples/tune/nbody.ts";
import { runningSums } from "../examples/tune/scan.ts";
import { softmax } from "../examples/tune/softmax.ts";
import { transpose } from "../examples/tune/transpose.ts";
import { hasSwiftShader, useSwiftShader } from "./support/swiftshader.ts";

const folder = mkdtempSync(join(tmpdir(), "evolver-tune-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Example {
  readonly file: string;
  readonly subject: Kernel<Params, Tune> | TunablePlan;
  /** Sizes for which a run takes seconds. */
  readonly sizes: Readonly<Record<string, number>>;
  /** Choices that use what the first ones do not. */
  readonly choices: Readonly<Record<string, number | string>>;
  /** How many times as fast it gets in the model; 1 where its first choices are near the roof there. */
  readonly speedup: number;
}

const examples: readonly Example[] = [
  {
    file: "matmul.ts",
    subject: matmul as unknown as Kernel<Params, Tune>,
    sizes: { m: 1024, n: 1024, k: 32 },
    choices: { tile: 32, each: 4, depth: 8 },
    speedup: 1.5,
  },
  {
    file: "scan.ts",
    subject: runningSums,
    sizes: { n: 1 << 19 },
    choices: { threads: 256, each: 4, by: "subgroups" },
    speedup: 1.5,
  },
  {
    file: "softmax.ts",
    subject: softmax as unknown as Kernel<Params, Tune>,
    sizes: { rows: 256, columns: 2048 },
    choices: { threads: 128, unroll: 2, kept: "exponentials" },
    speedup: 1.5,
  },
  {
    file: "nbody.ts",
    subject: nbody as unknown as Kernel<Params, Tune>,
    sizes: { n: 512 },
    choices: { width: 128, each: 2, unroll: 4, others: "shared" },
    speedup: 1.5,
  },
  {
    file: "transpose.ts",
    subject: transpose as unknown as Kernel<Params, Tune>,
    sizes: { rows: 300, columns: 200 },
    choices: { through: "swizzled tile", tile: 32, high: 8 },
    speedup: 1,
  },
  {
    file: "black-scholes.ts",
    subject: blackScholes as unknown as Kernel<Params, Tune>,
    sizes: { n: 4096 },
    choices: { width: 128, vector: 4, groups: 2, order: "neighbours" },
    speedup: 1,
  },
];

describe.each(examples)("$file", ({ subject, sizes, choices, speedup }) => {
  test.each(["sim", "cpu", ...(hasSwiftShader ? (["webgpu"] as const) : [])] as const)(
    "is right on %s",
    async (device) => {
      if (device === "webgpu") useSwiftShader();
      for (const point of [{}, choices]) {
        const { cases, error, bound } = await verify(subject, { device, choices: point });
        expect(cases).toBeGreaterThan(5);
        expect(error).toBeLessThanOrEqual(bound);
      }
    },
  );

  test(`gets at least ${speedup} times as fast`, async () => {
    const tunable = subject instanceof TunablePlan ? subject : tunableOf(subject);
    const result = await evolve(studyOf(tunable, { module: "none", export: "none", input: {} }), {
      input: sizes,
      cycles: 1,
      trialsPerCycle: 6,
      seed: 1,
      workspace: mkdtempSync(join(folder, "workspace-")),
      openJudge: openJudgeInProcess,
    });
    expect(result.timeKind).toBe("modelled");
    expect(result.speedup).toBeGreaterThanOrEqual(speedup);
    expect(result.rejected).toEqual([]);
  });
});

test("each file is tested here, and uses no run-time value as a JavaScript value", () => {
  const here = join(import.meta.dirname, "..", "examples", "tune");
  const files = readdirSync(here);
  expect(files).toEqual(examples.map(({ file }) => file).toSorted());
  expect(lintFiles(files.map((name) => join(here, name)))).toEqual([]);
});
