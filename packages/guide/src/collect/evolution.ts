/**
 * The parts of a workspace that evidence keeps: every record, the log, and the champion as a point and as the source that
 * was timed (other sources can be made again from the point). The plot of its trials is drawn with the other charts.
 */

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { deviceRows, isDeviceId } from "@evolver/device";
import { kernelFile, readRecords } from "@evolver/lab";

/** The file of what a device was given; null where it took no source. */
function sourceFor(device: string): string | null {
  const target = isDeviceId(device) ? deviceRows[device].target : null;
  return target === null ? null : kernelFile(target);
}

/** @param to is replaced */
export function keepEvolution(workspace: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(join(to, "records"), { recursive: true });
  for (const file of readdirSync(join(workspace, "records"))) {
    const record: unknown = JSON.parse(readFileSync(join(workspace, "records", file), "utf8"));
    writeFileSync(join(to, "records", file), `${JSON.stringify(record)}\n`);
  }
  cpSync(join(workspace, "evolution_log.md"), join(to, "evolution_log.md"));
  const [first] = readRecords(workspace);
  const source = sourceFor(first?.objective.device ?? "");
  cpSync(join(workspace, "champion"), join(to, "champion"), {
    recursive: true,
    filter: (path) => !basename(path).startsWith("kernel.") || basename(path) === source,
  });
}
