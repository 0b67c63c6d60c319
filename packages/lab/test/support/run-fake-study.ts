/**
 * A run on the fake study as a process of its own, to be killed: node run-fake-study.ts WORKSPACE CYCLES [GATE]. It judges only
 * while there is a file GATE, if one is named.
 */

import { existsSync } from "node:fs";
import { EvolverError } from "@evolver/base";
import { evolve } from "@evolver/lab";
import { fakeStudy, openFakeJudge } from "./fake-study.ts";
import { until } from "./until.ts";

const [workspace = "", cycles = "1", gate] = process.argv.slice(2);
const controller = new AbortController();
process.on("SIGINT", () => controller.abort());
try {
  const result = await evolve(fakeStudy, {
    cycles: Number(cycles),
    workspace,
    openJudge: openFakeJudge({ gate: () => until(() => gate === undefined || existsSync(gate)) }),
    signal: controller.signal,
    onEvent: ({ kind }) => process.stderr.write(`${kind}\n`),
  });
  console.log(JSON.stringify(result));
} catch (error) {
  console.log(
    JSON.stringify({ code: error instanceof EvolverError ? error.code : "OTHER", message: String(error) }),
  );
  process.exitCode = 1;
}
