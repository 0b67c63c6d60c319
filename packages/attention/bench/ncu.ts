/**
 * The simulator's counters beside the hardware's: runs Nsight Compute on each rung's kernel and prints one JSON document
 * with a row for each rung and counter; rows that differ by more than 5 % are flagged. Works in the host archive.
 *
 *     node packages/attention/bench/ncu.ts [--shape B1,H8,S1024,D64] [--rungs k01,k04] [--ncu PATH]
 *
 * The GPU's clocks are left alone. Nsight Compute empties the caches before each of its passes over a kernel.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  attentionPlan,
  fitPoint,
  ladder,
  randomInputs,
  rungById,
  type AttentionProblem,
} from "@evolver/attention";
import { factsOf, h200Datasheet } from "@evolver/machine";
import { bindPlan, buildOf, openDevice, type Device } from "@evolver/device";
import { EvolverError } from "@evolver/base";
import { countAttention } from "@evolver/attention/study/internal";
import { parseShape } from "@evolver/attention/study/internal";
import {
  comparisons,
  OPCODES,
  parseNcuCsv,
  wantedMetrics,
  type Comparison,
  type Counted,
  type NcuLaunch,
} from "@evolver/guide";

interface Row {
  readonly rung: string;
  readonly counter: string;
  /** Null where the GPU has no such metric. */
  readonly ncu: number | null;
  readonly sim: number;
  /** sim over ncu; null where ncu is not there, or 0. */
  readonly ratio: number | null;
  readonly flagged: boolean;
  /** Why they differ where they do; null where there is nothing to say. */
  readonly note: string | null;
}

const ALLOWED = 0.05;
const PLACES = ["ncu", "/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/2025.3.1/ncu"];
const BIGGEST_OUTPUT = 2 ** 28;
/** Of the launch and the occupancy calculator, and not in the list of counters. */
const ALWAYS_THERE = /^(launch__|sm__maximum_warps_per_active_cycle_pct)/;

const { values } = parseArgs({
  options: {
    shape: { type: "string", default: "B1,H8,S1024,D64" },
    rungs: { type: "string" },
    seed: { type: "string", default: "1" },
    device: { type: "string", default: "cuda" },
    ncu: { type: "string" },
  },
});
const problem = parseShape(values.shape);
const rungs = values.rungs === undefined ? ladder : values.rungs.split(",").map((id) => rungById(id));
const seed = Number(values.seed);
const { path: ncu, version } = findNcu(values.ncu);
const available = availableMetrics(ncu);
const asked = wantedMetrics.filter(
  (name) => ALWAYS_THERE.test(name) || available.size === 0 || available.has(name.split(".")[0] as string),
);
const profiled = profile();
const sim = await openDevice("sim", { subgroup: h200Datasheet.subgroupSize });
const rows: Row[] = [];
for (const { rung, launch } of profiled) {
  const counted = await countRung(rung, problem, sim);
  rows.push(...comparisons.map((comparison) => compare(rung, comparison, launch, counted)));
}
await sim.close();
const missing = rungs.map(({ id }) => id).filter((id) => !profiled.some(({ rung }) => rung === id));
const report = {
  what: "the simulator's counters beside Nsight Compute's",
  ncu: version,
  shape: values.shape,
  allowed: ALLOWED,
  flagged: rows.filter(({ flagged }) => flagged).length,
  rows,
  launches: profiled.map(({ rung, launch }) => ({ rung, ...launch })),
  missingRungs: missing,
  unavailableMetrics: wantedMetrics.filter((name) => !asked.includes(name)),
};
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
for (const { rung, counter, ncu: there, sim: here, flagged } of rows)
  process.stderr.write(
    `${flagged ? "≠" : " "} ${rung} ${counter.padEnd(32)} ncu ${there ?? "–"}, sim ${here}\n`,
  );
process.exitCode = missing.length === 0 ? 0 : 1;

function findNcu(path: string | undefined): { path: string; version: string } {
  for (const candidate of path === undefined ? PLACES : [path]) {
    const { status, stdout } = spawnSync(candidate, ["--version"], { encoding: "utf8" });
    const found = status === 0 ? /Version (\S+)/.exec(stdout)?.[1] : undefined;
    if (found !== undefined) return { path: candidate, version: found };
  }
  throw new EvolverError("NCU_UNAVAILABLE", "Nsight Compute is not found", {
    hint: "it comes with CUDA's toolkit; say where it is: --ncu PATH",
  });
}

/** Names of the counters this GPU has; empty where the list cannot be had. */
function availableMetrics(path: string): ReadonlySet<string> {
  const { stdout } = spawnSync(path, ["--query-metrics"], { encoding: "utf8", maxBuffer: BIGGEST_OUTPUT });
  return new Set([...(stdout ?? "").matchAll(/^\s*([a-z0-9]+__\w+)/gm)].map(([, name]) => name as string));
}

/** Runs every rung once under Nsight Compute; without the instructions by opcode where it does not give them. */
function profile(): { rung: string; launch: NcuLaunch }[] {
  try {
    return profileWith([...asked, OPCODES], ["--print-metric-instances", "details"]);
  } catch (error) {
    if (!(error instanceof EvolverError)) throw error;
    process.stderr.write(`once more without ${OPCODES}: ${error.message}\n`);
    return profileWith(asked, []);
  }
}

function profileWith(
  metrics: readonly string[],
  options: readonly string[],
): { rung: string; launch: NcuLaunch }[] {
  const folder = mkdtempSync(join(tmpdir(), "evolver-ncu-"));
  const log = join(folder, "log.csv");
  const one = join(import.meta.dirname, "one.ts");
  const listed = rungs.map(({ id }) => id).join(",");
  try {
    const run = spawnSync(
      ncu,
      [
        ...["--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", ...options],
        ...["--target-processes", "all", "--log-file", log, "--metrics", metrics.join(",")],
        ...[process.execPath, one, "--device", values.device, "--shape", values.shape],
        ...["--rungs", listed, "--seed", values.seed],
      ],
      { encoding: "utf8", maxBuffer: BIGGEST_OUTPUT, env: { ...process.env, LC_ALL: "C" } },
    );
    process.stderr.write(run.stderr ?? "");
    const launches = parseNcuCsv(existsSync(log) ? readFileSync(log, "utf8") : "");
    const launched = launchedIn(run.stdout);
    return launched.map(({ rung, workgroups, workgroupSize }, k) => {
      const launch = launches[k];
      if (
        launches.length !== launched.length ||
        launch?.grid.join() !== workgroups.join() ||
        launch.block.join() !== workgroupSize.join()
      )
        throw new EvolverError(
          "NCU_OUTPUT",
          `launch ${k} is ${launch?.kernel} ${launch?.grid.join("×")} of ${launches.length}, and ${rung} launches ${workgroups.join("×")} as one of ${launched.length}`,
        );
      return { rung, launch: onlyAsked(launch, metrics) };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Launched {
  readonly rung: string;
  readonly workgroups: readonly number[];
  readonly workgroupSize: readonly number[];
}

/** What the target says it launched: its last line, below what Nsight Compute may print. */
function launchedIn(stdout: string): readonly Launched[] {
  try {
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Launched[];
  } catch {
    throw new EvolverError("NCU_OUTPUT", `the target launched nothing: ${stdout.slice(0, 200)}`);
  }
}

/** Nsight Compute adds minima, maxima and facts about the device. */
function onlyAsked(launch: NcuLaunch, metrics: readonly string[]): NcuLaunch {
  const own = <T>(entries: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(
      Object.entries(entries).filter(([name]) => metrics.includes(name.split(":")[0] as string)),
    );
  return { ...launch, metrics: own(launch.metrics), units: own(launch.units) };
}

async function countRung(id: string, own: AttentionProblem, device: Device): Promise<Counted> {
  const point = fitPoint(rungById(id).point, own, device.subgroupSize);
  const plan = attentionPlan(point, own, { ...buildOf(device), machine: factsOf(h200Datasheet) });
  const inputs = { ...randomInputs(own, { seed }) };
  const bound = await bindPlan(device, plan, { inputs });
  try {
    const { counters } = await countAttention(bound, {
      problem: own,
      machine: h200Datasheet,
      seed,
      inputs: () => inputs,
    });
    const size = plan.kernels[0]?.workgroupSize.reduce((product, extent) => product * extent, 1) ?? 0;
    return {
      counters,
      globals: new Set(plan.buffers.map(({ name }) => name)),
      subgroupsPerWorkgroup: Math.ceil(size / device.subgroupSize),
    };
  } finally {
    bound.destroy();
  }
}

function compare(rung: string, comparison: Comparison, launch: NcuLaunch, counted: Counted): Row {
  const { title, terms, optional = [] } = comparison;
  const parts = Object.entries(terms).map(([name, weight]) => {
    const value = launch.metrics[name] ?? (optional.includes(name) ? 0 : null);
    return value === null ? null : weight * value;
  });
  const there = parts.reduce((sum, part) => (sum === null || part === null ? null : sum + part), 0);
  const here = comparison.sim(counted);
  const scale = Math.max(there ?? 0, here, comparison.beside?.(counted) ?? 0);
  const flagged = there !== null && Math.abs(here - there) > ALLOWED * scale;
  const ratio = there === null || there === 0 ? null : here / there;
  return { rung, counter: title, ncu: there, sim: here, ratio, flagged, note: comparison.note ?? null };
}
