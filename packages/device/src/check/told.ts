/** Findings as they are told to people and tools: plain records with the place first, and their text. */

import type { EvolverError, SourceLocation } from "@evolver/base";
import type { Finding } from "../core/findings.ts";

/** One side of a finding. */
export interface ToldAccess {
  readonly action: string;
  readonly file: string;
  readonly line: number;
  /** From 1. */
  readonly column: number;
  readonly lanes: readonly number[];
  readonly workgroup: readonly number[];
}

/** A finding of the simulator, a kernel that does not build, or a run-time value used as a JavaScript value. */
export interface ToldFinding {
  readonly kind: string;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly lanes: readonly number[];
  readonly accesses: readonly ToldAccess[];
  readonly count: number;
  /** What to do, of a kernel that does not build. */
  readonly hint?: string;
}

/** A finding of the simulator. */
export function toldFinding(finding: Finding): ToldFinding {
  const accesses = finding.accesses.map(({ action, location, lanes, workgroup }) =>
    access(action, location, lanes, workgroup),
  );
  const first = accesses[0] as ToldAccess;
  const { kind, message, count } = finding;
  return { kind, message, file: first.file, line: first.line, lanes: first.lanes, accesses, count };
}

/** A kernel that does not build has one finding: why. */
export function refusal(error: EvolverError): ToldFinding {
  const accesses = error.where.map((location) => access(location.note ?? "here", location, [], []));
  const first = accesses[0] as ToldAccess;
  const kind = error.code.toLowerCase().replaceAll("_", "-");
  const message = error.message.split("\n")[0] as string;
  return {
    ...{ kind, message, file: first.file, line: first.line, lanes: [], accesses, count: 1 },
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  };
}

/** What the linter tells. Its own types need the compiler, which not every project has. */
type LintedUse = SourceLocation & { readonly message: string; readonly hint: string };

/** A run-time value used as a JavaScript value, as a finding. */
export function nativeUse({ file, line, column, message, hint }: LintedUse): ToldFinding {
  const accesses = [access("used", { file, line, column }, [], [])];
  return { kind: "native-use", message: `${message}; ${hint}`, file, line, lanes: [], accesses, count: 1 };
}

function access(
  action: string,
  { file, line, column }: SourceLocation,
  lanes: readonly number[],
  workgroup: readonly number[],
): ToldAccess {
  return { action, file, line, column, lanes, workgroup };
}

/**
 * A finding as lines: what is wrong, then each access with its place and who made it, then what to do.
 *
 * @param shortPath a file's name as the reader knows it
 */
export function describeFinding(
  { kind, message, count, accesses, hint }: ToldFinding,
  shortPath: (file: string) => string,
): string[] {
  const lines = accesses.map(({ action, file, line, lanes, workgroup }) => {
    const who =
      lanes.length === 0 ? "" : `, invocation ${shortList(lanes)} of workgroup [${workgroup.join(", ")}]`;
    return `    ${action} at ${shortPath(file)}:${line}${who}`;
  });
  const help = hint === undefined ? [] : hint.split("\n").map((line) => `    help: ${line}`);
  return [`  ${kind}: ${message}${count > 1 ? ` (${count} times)` : ""}`, ...lines, ...help];
}

/** What was launched, as in "2×1×1 workgroups, n=64 x=[64]". */
export function describeLaunch(
  workgroups: readonly number[],
  args: Readonly<Record<string, number | { readonly length: number }>>,
): string {
  const shown = Object.entries(args).map(
    ([name, value]) => `${name}=${typeof value === "number" ? value : `[${value.length}]`}`,
  );
  return `${workgroups.join("×")} workgroups, ${shown.join(" ")}`;
}

/** The first eight of a list, and how many there are. */
export function shortList(list: readonly (number | string)[]): string {
  return list.length <= 8 ? list.join(", ") : `${list.slice(0, 8).join(", ")}, … (${list.length})`;
}
