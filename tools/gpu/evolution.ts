/**
 * From the workspaces that tools/gpu/evolve.sh brought back to what evidence keeps of them: every record, the log, the
 * champion as a point and as the source that was timed (the point gives the others again), and a plot of all trials.
 *
 *     node tools/gpu/evolution.ts evidence/h200/evolution FOLDER…      each FOLDER a workspace, named evolve-NAME
 */

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { readRecords } from "@evolver/lab";
import { plotSvg } from "@evolver/machine";

/** What a device was given. */
const SOURCES: Readonly<Record<string, string>> = {
  cuda: "kernel.cu",
  hip: "kernel.hip",
  webgpu: "kernel.wgsl",
};

const [output, ...workspaces] = process.argv.slice(2);
if (output === undefined || workspaces.length === 0) {
  process.stderr.write("usage: node tools/gpu/evolution.ts OUTPUT WORKSPACE…\n");
  process.exit(2);
}

for (const workspace of workspaces) {
  const name = basename(workspace).replace(/^evolve-/, "");
  const to = join(output, name);
  rmSync(to, { recursive: true, force: true });
  mkdirSync(join(to, "records"), { recursive: true });
  for (const file of readdirSync(join(workspace, "records"))) {
    const record: unknown = JSON.parse(readFileSync(join(workspace, "records", file), "utf8"));
    writeFileSync(join(to, "records", file), `${JSON.stringify(record)}\n`);
  }
  cpSync(join(workspace, "evolution_log.md"), join(to, "evolution_log.md"));
  const [first] = readRecords(workspace);
  const source = SOURCES[first?.objective.device ?? ""];
  cpSync(join(workspace, "champion"), join(to, "champion"), {
    recursive: true,
    filter: (path) => !basename(path).startsWith("kernel.") || basename(path) === source,
  });
  writeFileSync(join(to, "trials.svg"), plotOf(workspace, name));
  process.stdout.write(`${to}\n`);
}

/** Times of all trials that were right, and the champion's after each. */
function plotOf(workspace: string, name: string): string {
  const records = readRecords(workspace);
  const trials = records.flatMap((record) => record.trials);
  const measured = trials.flatMap(({ number, verdict: { timeMs } }): [number, number][] =>
    timeMs === null ? [] : [[number, timeMs * 1000]],
  );
  const after = records.flatMap(({ trials: own, outcome }): [number, number][] => {
    const last = own.at(-1);
    return last === undefined ? [] : [[last.number, outcome.champion.timeMs * 1000]];
  });
  // In steps: a champion stays as fast as it is until another takes its place.
  const champion = after.flatMap(([trial, time], k): [number, number][] => {
    const before = after[k - 1];
    return before === undefined || before[1] === time
      ? [[trial, time]]
      : [
          [trial, before[1]],
          [trial, time],
        ];
  });
  const [first] = records;
  return plotSvg({
    id: "trials",
    title: `${first?.objective.inputTitle ?? name} on ${first?.objective.device ?? "?"}`,
    x: "trial",
    y: "microseconds",
    logX: false,
    logY: true,
    series: [
      { name: "trials", points: measured, joined: false },
      { name: "champion", points: champion },
    ],
  });
}
