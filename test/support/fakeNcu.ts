/**
 * Stands in for Nsight Compute where there is none: runs the target as it would and writes, for each launch that the
 * target reports, a row of the metrics asked for. FAKE_NCU gives the metrics' values as JSON; others are 1, and those
 * of machine code by opcode are refused.
 */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";

const args = process.argv.slice(2);
const values = JSON.parse(process.env["FAKE_NCU"] ?? "{}") as Record<string, string>;
const option = (name: string): string => args[args.indexOf(name) + 1] ?? "";

if (args.includes("--version"))
  console.log("NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0");
else if (args.includes("--query-metrics"))
  console.log(
    `Device NVIDIA H200 (GH100)\n${Object.keys(values)
      .map((name) => `${name.split(".")[0]}      Counter     a counter`)
      .join("\n")}`,
  );
else profile();

function profile(): void {
  const unknown = option("--metrics")
    .split(",")
    .find((name) => name.startsWith("sass__") && values[name] === undefined);
  if (unknown !== undefined) {
    writeFileSync(option("--log-file"), `==ERROR== Failed to find metric ${unknown}\n`);
    process.exit(1);
  }
  const target = args.slice(args.indexOf(process.execPath));
  const { stdout } = spawnSync(target[0] as string, target.slice(1), { encoding: "utf8" });
  process.stdout.write(`a word of the profiler's\n${stdout}`);
  const launched = JSON.parse(stdout) as { workgroups: number[]; workgroupSize: number[] }[];
  const names = option("--metrics").split(",");
  const quoted = (cells: readonly string[]): string => cells.map((cell) => `"${cell}"`).join(",");
  const size = (extents: readonly number[]): string => `(${extents.join(", ")})`;
  const rows = launched.map(({ workgroups, workgroupSize }, id) =>
    quoted([
      ...[String(id), "4711", "node", "127.0.0.1", "flash(float *, float *)", "1", "13"],
      ...[size(workgroupSize), size(workgroups), "0", "9.0"],
      ...names.map((name) => values[name] ?? "1"),
    ]),
  );
  const facts = [
    ...["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream"],
    ...["Block Size", "Grid Size", "Device", "CC"],
  ];
  const lines = [
    "==PROF== Connected to process 4711 (/usr/bin/node)",
    "==PROF== Disconnected from process 4711",
    quoted([...facts, ...names]),
    quoted([...facts.map(() => ""), ...names.map(() => "")]),
    ...rows,
  ];
  writeFileSync(option("--log-file"), `${lines.join("\n")}\n`);
}
