/** What `evolver check` reports of a kernel, and its text. */

import { relative } from "node:path";
import { quantity } from "@evolver/base";
import { formatTrace } from "@evolver/device";
import {
  describeFinding,
  describeLaunch,
  shortList,
  type CheckLaunch,
  type KernelCheck,
} from "@evolver/device/check";
import { describeWeakened, type Weakened } from "../weakened.ts";

export interface Report extends Omit<KernelCheck, "launch"> {
  /** Why the source was not looked at for run-time values used as JavaScript values, or null. */
  readonly sourceProblem: string | null;
  readonly file: string;
  /** The name it is exported by, which may differ from the kernel's own. */
  readonly export: string;
  readonly kernel: string;
  readonly subgroup: number;
  /** What targets promise less than the language for this kernel. */
  readonly weakened: readonly Weakened[];
  readonly launch:
    | (Pick<CheckLaunch, "workgroups" | "guessed" | "madeUp"> & { readonly args: CheckLaunch["summary"] })
    | null;
}

/**
 * @param withFile whether the heading names the file: several were given
 */
export function describeReport(report: Report, withFile: boolean): string {
  const { launch, counters } = report;
  const soFar = report.complete ? "" : " so far (stopped before the end)";
  const depends = report.warnings.length > 0 ? ", but its result depends on the schedule," : "";
  const verdict =
    report.findings.length === 0
      ? `${depends === "" ? "clean" : "no findings"}${soFar}${depends}`
      : `${report.findings.length} finding${report.findings.length === 1 ? "" : "s"}${soFar}`;
  const heading =
    report.export === report.kernel ? report.kernel : `${report.export} (kernel ${report.kernel})`;
  const place = withFile ? `${shortPath(report.file)}#` : "";
  const lines = [`${place}${heading}: ${verdict} at subgroup width ${report.subgroup}`];
  for (const finding of [...report.findings, ...report.warnings])
    lines.push(...describeFinding(finding, shortPath));
  for (const trace of report.traces) lines.push(`  ${formatTrace(trace)}`);
  if (report.tracesLeftOut > 0)
    lines.push(`  … ${report.tracesLeftOut} more lines of gpu.trace; --traces <n> shows n`);
  if (report.sourceProblem !== null)
    lines.push(
      `  not looked for: run-time values as JavaScript conditions, such as if (x.get(0)): ${report.sourceProblem}`,
    );
  if (report.conditional.length > 0)
    lines.push(
      `  with other contents of ${launch?.madeUp.join(", ")}, which check made up (give them in the example to know):`,
    );
  for (const finding of report.conditional)
    lines.push(...describeFinding(finding, shortPath).map((line) => `  ${line}`));
  if (launch !== null) {
    lines.push(`  launch: ${describeLaunch(launch.workgroups, launch.args)}`);
    if (launch.madeUp.length > 0)
      lines.push(
        `  made up: ${launch.madeUp.join(", ")} (each whole number below the length once, in mixed order, and zeros in one more run)`,
      );
    if (launch.guessed.length > 0) {
      lines.push(
        `  guessed: ${launch.guessed.join(", ")}; give the kernel an \`example\`, or pass --workgroups and --arg name=value`,
      );
    }
  }
  if (counters !== null) {
    lines.push(
      `  global ${quantity(counters.globalReadBytes, "B")} read, ${quantity(counters.globalWriteBytes, "B")} written in ${quantity(counters.globalSectors)} sectors; ` +
        `shared conflicts ${quantity(counters.sharedConflicts)}; barriers ${quantity(counters.barriers)}; ` +
        `divergent branches ${quantity(counters.divergentBranches)} of ${quantity(counters.branches)}; ${quantity(counters.flops, "FLOP")}`,
    );
  }
  lines.push(...describeWeakened(report.weakened));
  if (report.neverRan.length > 0) {
    const places = report.neverRan.map(({ file, line }) => `${shortPath(file)}:${line}`);
    lines.push(`  never ran, so nothing is known of it: ${shortList([...new Set(places)])}`);
  }
  if (report.launches > 0)
    lines.push(
      `  this is what ${report.launches} ${report.launches === 1 ? "launch" : "launches"} of this one size and data showed, no proof: other sizes, data, widths and orders, rounding, and what a target weakens are not covered (docs/check.md)`,
    );
  return lines.join("\n");
}

/** A file as its project names it. */
export function shortPath(file: string): string {
  const shorter = relative(process.cwd(), file);
  return shorter.startsWith("..") ? file : shorter;
}
