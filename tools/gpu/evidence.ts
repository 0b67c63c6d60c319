/**
 * Runs a command that prints JSON and keeps what it printed as evidence: with the command, the date, the versions and,
 * where there is one, the GPU.
 *
 *     node tools/gpu/evidence.ts evidence/h200/ladder-cuda.json -- evolver ladder attention --device cuda --json
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [output, separator, ...command] = process.argv.slice(2);
if (output === undefined || separator !== "--" || command.length === 0) {
  process.stderr.write("usage: node tools/gpu/evidence.ts FILE.json -- COMMAND…\n");
  process.exit(2);
}

/** The first line that a program prints, or null where it is not there. */
function firstLine(program: string, ...args: string[]): string | null {
  const { stdout, status } = spawnSync(program, args, { encoding: "utf8" });
  return status === 0 ? (stdout.trim().split("\n")[0] ?? null) : null;
}

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const started = performance.now();
const run = spawnSync(command[0] as string, command.slice(1), {
  encoding: "utf8",
  maxBuffer: 2 ** 28,
  stdio: ["ignore", "pipe", "inherit"],
});
const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as {
  version: string;
};
const gpu = firstLine(
  "nvidia-smi",
  "--query-gpu=name,driver_version,clocks.max.sm,memory.total",
  "--format=csv,noheader",
);

let result: unknown;
try {
  result = JSON.parse(run.stdout);
} catch {
  process.stderr.write(`${command.join(" ")} printed no JSON (exit code ${run.status})\n`);
  process.exit(1);
}
const document = {
  command: command.join(" "),
  exitCode: run.status,
  date: new Date().toISOString().slice(0, 10),
  seconds: Math.round((performance.now() - started) / 100) / 10,
  versions: {
    evolver: version,
    commit: process.env["EVOLVER_COMMIT"] ?? firstLine("git", "-C", root, "rev-parse", "--short", "HEAD"),
    node: process.version,
    nvcc:
      (spawnSync("nvcc", ["--version"], { encoding: "utf8" }).stdout ?? "").match(/release (\S+),/)?.[1] ??
      null,
  },
  machine: { gpu, cpu: cpus()[0]?.model ?? null, cores: cpus().length },
  result,
};
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, `${JSON.stringify(document, null, 2)}\n`);
process.stderr.write(`${output}: exit code ${run.status}, ${document.seconds} s\n`);
process.exitCode = run.status ?? 1;
