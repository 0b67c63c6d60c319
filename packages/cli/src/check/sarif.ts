/** What `evolver check` found as SARIF 2.1.0, which GitHub and editors show beside the code. */

import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { ToldAccess, ToldFinding } from "@evolver/device/check";
import type { FailedTarget } from "./load-targets.ts";
import type { Report } from "./report.ts";
import { rules, type Rule } from "./rules.ts";

export interface SarifInput {
  readonly reports: readonly Report[];
  readonly failed: readonly FailedTarget[];
  /** Of this package. */
  readonly version: string;
  /** The folder that addresses of files begin at. */
  readonly root: string;
  /** Whether a result that depends on the schedule is an error. */
  readonly deterministic: boolean;
}

type Level = "error" | "warning" | "note";

interface Result {
  readonly rule: string;
  readonly level: Level;
  readonly message: string;
  /** The first is where it is shown. */
  readonly places: readonly Place[];
  /** Null for a file that could not be loaded. */
  readonly kernel: string | null;
}

type Place = Pick<ToldAccess, "file" | "line" | "column"> & { readonly text: string };

/** The folder of the repository around a folder, which is what GitHub takes addresses from; else the folder itself. */
export function sarifRoot(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return folder;
  }
}

export function sarifLog(input: SarifInput): object {
  const results = [
    ...input.reports.flatMap((report) => resultsOf(report, input.deterministic)),
    ...input.failed.map(failure),
  ];
  const known = allRules(results);
  const ids = [...known.keys()];
  return {
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "Evolver",
            version: input.version,
            semanticVersion: input.version,
            rules: [...known].map(describeRule),
          },
        },
        columnKind: "utf16CodeUnits",
        invocations: [
          {
            executionSuccessful: input.failed.length === 0 && input.reports.every(({ complete }) => complete),
          },
        ],
        results: results.map((result) => describeResult(result, ids.indexOf(result.rule), input.root)),
      },
    ],
  };
}

function resultsOf(report: Report, deterministic: boolean): Result[] {
  const of = (finding: ToldFinding, level: Level, condition = ""): Result => ({
    rule: finding.kind,
    level,
    message: messageOf(finding, report, condition),
    places: finding.accesses.map(({ file, line, column, ...access }) => ({
      ...{ file, line, column },
      text: accessText(access),
    })),
    kernel: report.kernel,
  });
  return [
    ...report.findings.map((finding) => of(finding, "error")),
    ...report.warnings.map((finding) => of(finding, deterministic ? "error" : "warning")),
    ...report.conditional.map((finding) =>
      of(finding, "note", "With other contents of a buffer that check made up: "),
    ),
  ];
}

function messageOf({ message, count, hint }: ToldFinding, report: Report, condition: string): string {
  const times = count > 1 ? ` (${count} times)` : "";
  const help = hint === undefined ? "" : ` ${hint}`;
  return `${condition}${message}${times}, in kernel ${report.kernel} at subgroup width ${report.subgroup}.${help}`;
}

function accessText({
  action,
  lanes,
  workgroup,
}: Pick<ToldAccess, "action" | "lanes" | "workgroup">): string {
  if (lanes.length === 0) return action;
  const some =
    lanes.length > 8 ? `${lanes.slice(0, 8).join(", ")} and ${lanes.length - 8} more` : lanes.join(", ");
  return `${action} by invocation ${some} of workgroup [${workgroup.join(", ")}]`;
}

function failure({ file, error }: FailedTarget): Result {
  const places = error.where.length > 0 ? error.where : [{ file, line: 1, column: 1 }];
  return {
    rule: ruleOfCode(error.code),
    level: "error",
    message: `${error.what}${error.hint === undefined ? "" : `. ${error.hint}`}`,
    places: places.map((place) => ({ ...place, text: "here" })),
    kernel: null,
  };
}

const ruleOfCode = (code: string): string => code.toLowerCase().replaceAll("_", "-");

/** Those of findings, and of each code of an error for which a kernel was refused or a file not loaded. */
function allRules(results: readonly Result[]): Map<string, Rule> {
  const all = new Map<string, Rule>(Object.entries(rules));
  for (const { rule } of results) {
    if (all.has(rule)) continue;
    const code = rule.toUpperCase().replaceAll("-", "_");
    all.set(rule, {
      title: `The kernel cannot be built or loaded: ${code}`,
      help: "The message says what to do; docs/errors.md lists all codes.",
    });
  }
  return all;
}

const describeRule = ([id, { title, help }]: readonly [string, Rule]): object => ({
  id,
  shortDescription: { text: title },
  fullDescription: { text: `${title}. ${help}` },
  help: { text: help },
  defaultConfiguration: { level: id === "schedule-dependent-result" ? "warning" : "error" },
});

function describeResult(
  { rule, level, message, places, kernel }: Result,
  ruleIndex: number,
  root: string,
): object {
  const [first, ...others] = places.map((place) => ({
    ...locationOf(place, root),
    message: { text: place.text },
  }));
  const logical = kernel === null ? {} : { logicalLocations: [{ name: kernel, kind: "function" }] };
  return {
    ...{ ruleId: rule, ruleIndex, level, message: { text: message } },
    locations: first === undefined ? [] : [{ ...first, ...logical }],
    ...(others.length === 0
      ? {}
      : {
          relatedLocations: others.map((location, at) => ({ id: at + 1, ...location })),
        }),
  };
}

function locationOf({ file, line, column }: Place, root: string): object {
  const inside = relative(root, file);
  const isInside = inside !== "" && !isAbsolute(inside) && inside.split(sep)[0] !== "..";
  const artifactLocation = isInside
    ? { uri: inside.split(sep).map(encodeURIComponent).join("/"), uriBaseId: "%SRCROOT%" }
    : { uri: pathToFileURL(file).href };
  // What has no place in the source, such as a kernel made in a REPL, has line 0.
  const region =
    line < 1 ? {} : { region: { startLine: line, ...(column < 1 ? {} : { startColumn: column }) } };
  return { physicalLocation: { artifactLocation, ...region } };
}
