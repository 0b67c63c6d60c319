/**
 * From the workspaces that tools/gpu/evolve.sh brought back to what evidence keeps of them: every record, the log, the
 * champion as a point and as the source that was timed (the point gives the others again). `npm run docs h200` draws its trials.
 *
 *     node tools/gpu/evolution.ts evidence/h200/evolution FOLDER…      each FOLDER a workspace, named evolve-NAME
 */

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { readRecords } from "@evolver/lab";

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
  process.stdout.write(`${to}\n`);
}
