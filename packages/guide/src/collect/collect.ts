/** Runs measurements one after another and keeps the output of each in a folder of evidence. A failure does not affect the others. */

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { EvolverError, printJson } from "@evolver/base";
import type { EvidenceCommand } from "@evolver/lab";
import { keepEvolution } from "./evolution.ts";
import { keep } from "./keep.ts";
import { whyMissing, type Places } from "./needs.ts";

export interface CollectOptions extends Places {
  readonly commands: readonly EvidenceCommand[];
  /** What is run for `evolver`: a program and its first arguments. */
  readonly evolver: readonly string[];
  readonly version: string;
  readonly onCommand?: (name: string, done: number, total: number) => void;
}

export interface Collected {
  readonly name: string;
  /** Kept: its file is there. Its own exit code may say that what it checked failed. */
  readonly status: "kept" | "failed" | "skipped";
  /** Why there is no file; null where there is one. */
  readonly why: string | null;
  readonly exitCode: number | null;
  readonly seconds: number;
}

/**
 * The commands of these names, in their order; all where there are none.
 *
 * @throws EvolverError UNKNOWN_EVIDENCE
 */
export function findCommands(
  commands: readonly EvidenceCommand[],
  names: readonly string[] | null,
): EvidenceCommand[] {
  const unknown = (names ?? []).find((name) => commands.every((command) => command.name !== name));
  if (unknown !== undefined)
    throw new EvolverError("UNKNOWN_EVIDENCE", `there is no measurement "${unknown}"`, {
      hint: `there are ${commands.map(({ name }) => name).join(", ")}`,
    });
  return commands.filter(({ name }) => names === null || names.includes(name));
}

export async function collect(options: CollectOptions): Promise<Collected[]> {
  const { commands, out, onCommand } = options;
  mkdirSync(out, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), "evolver-evidence-"));
  try {
    const all: Collected[] = [];
    for (const [done, command] of commands.entries()) {
      onCommand?.(command.name, done, commands.length);
      all.push(await collectOne(command, options, scratch));
    }
    return all;
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function collectOne(
  row: EvidenceCommand,
  options: CollectOptions,
  scratch: string,
): Promise<Collected> {
  const { name, needs, command, limitSeconds, untilLimit = false } = row;
  const { out, goldens, hipHeaders, evolver, version } = options;
  for (const need of needs) {
    const why = await whyMissing(need, options);
    if (why !== null) return { name, status: "skipped", why, exitCode: null, seconds: 0 };
  }
  const workspace = join(scratch, name);
  const places: Readonly<Record<string, string | null>> = {
    $OUT: out,
    $SCRATCH: scratch,
    $WORKSPACE: workspace,
    $GOLDENS: goldens,
    $HIP_HEADERS: hipHeaders,
  };
  const placed = command.map((word) => word.replace(/^\$[A-Z_]+/, (place) => places[place] ?? place));
  const kept = await keep({ command: placed, evolver, limitSeconds, untilLimit, version });
  if (kept.kind === "failed")
    return { name, status: "failed", why: kept.why, exitCode: null, seconds: kept.seconds };
  writeFileSync(join(out, `${name}.json`), withoutPaths(printJson(kept.document), places));
  if (existsSync(join(workspace, "records")))
    keepEvolution(workspace, join(out, "evolution", name.replace(/^evolve-/, "")));
  return { name, status: "kept", why: null, exitCode: kept.exitCode, seconds: kept.seconds };
}

/** Evidence says $OUT where the path of this machine's folder stood, and begins no path with the folder that it was run in. */
function withoutPaths(json: string, places: Readonly<Record<string, string | null>>): string {
  const paths = Object.entries(places)
    .flatMap(([name, path]) => (path !== null && isAbsolute(path) ? [{ name, path }] : []))
    .toSorted((one, other) => other.path.length - one.path.length);
  return paths
    .reduce((text, { name, path }) => text.replaceAll(path, name), json)
    .replaceAll(`${process.cwd()}/`, "");
}
