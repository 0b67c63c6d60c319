/**
 * Every rung of the attention ladder on independent golden values, on any device. Prints one JSON document; exits 1 if
 * a case fails.
 *
 *     node packages/attention/bench/goldens.ts --device cuda --data ../shared/data/attention
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  attentionPlan,
  attentionTruth,
  compareWithTruth,
  createProblem,
  fitPoint,
  ladder,
  readSafetensors,
  type AttentionProblem,
  limitsOf,
} from "@evolver/attention";
import { bindPlan, buildOf, openDevice, type DeviceId } from "@evolver/device";

interface GoldenCase {
  readonly batch: number;
  readonly sq: number;
  readonly sk: number;
  readonly heads_q: number;
  readonly heads_kv: number;
  readonly dim: number;
  readonly mask: "full" | "causal" | "window";
  readonly window: readonly [number, number] | null;
  readonly softcap: number;
  readonly scale: number;
  readonly max_abs: { readonly o: number };
  readonly err_f32: { readonly o: number };
}

/** Of the error of plain float32 attention that is recorded beside the golden values, and in roundings of the largest. */
const ERRORS_ALLOWED = 4;
const ROUNDINGS_ALLOWED = 4;

const { values } = parseArgs({
  options: {
    device: { type: "string", default: "cuda" },
    data: { type: "string", default: "../shared/data/attention" },
  },
});
const cases = JSON.parse(readFileSync(join(values.data, "golden-public.json"), "utf8")) as Record<
  string,
  GoldenCase
>;
const { tensors } = readSafetensors(readFileSync(join(values.data, "golden-public.safetensors")));
const floats = (name: string): Float32Array => tensors.get(name)?.data as Float32Array;

function problemOf(golden: GoldenCase): AttentionProblem {
  const { batch, heads_q: headsQ, heads_kv: headsKv, sq: seqQ, sk: seqK, dim, softcap, scale } = golden;
  const mask = golden.window
    ? { kind: "window" as const, left: golden.window[0], right: golden.window[1] }
    : { kind: golden.mask as "full" | "causal" };
  return createProblem({ batch, headsQ, headsKv, seqQ, seqK, dim }, { mask, softcap, scale });
}

const device = await openDevice(values.device as DeviceId);
const failures: string[] = [];
let worst = 0;
let passed = 0;
for (const [name, golden] of Object.entries(cases)) {
  const problem = problemOf(golden);
  const inputs = { q: floats(`${name}/q`), k: floats(`${name}/k`), v: floats(`${name}/v`) };
  const truth = attentionTruth(problem, inputs);
  const allowed = ERRORS_ALLOWED * golden.err_f32.o + ROUNDINGS_ALLOWED * 2 ** -24 * golden.max_abs.o;
  for (const rung of ladder) {
    const point = fitPoint(rung.point, problem, device.subgroupSize, limitsOf(device));
    const bound = await bindPlan(
      device,
      attentionPlan(point, problem, { ...buildOf(device), machine: device.machine }),
      {
        inputs,
        fill: "nan",
      },
    );
    await bound.run();
    const [o, lse] = [await bound.read("o"), await bound.read("lse")];
    bound.destroy();
    const { pass } = compareWithTruth(problem, truth, { o, lse });
    const error = o.reduce(
      (most, value, i) => Math.max(most, Math.abs(value - (floats(`${name}/o`)[i] as number))),
      0,
    );
    worst = Math.max(worst, error / allowed);
    if (pass && error <= allowed) passed++;
    else
      failures.push(
        `${rung.id} ${name}: error ${error}, allowed ${allowed}${pass ? "" : "; beyond the tolerance rule"}`,
      );
  }
}
process.stdout.write(
  `${JSON.stringify({ device: values.device, name: device.name, cases: Object.keys(cases).length, rungs: ladder.length, passed, failed: failures.length, worstShareOfAllowed: worst, failures }, null, 2)}\n`,
);
await device.close();
process.exitCode = failures.length === 0 ? 0 : 1;
