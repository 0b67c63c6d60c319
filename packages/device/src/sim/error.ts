/** The error that a simulated launch with findings throws. */

import { EvolverError, formatLocation } from "@evolver/base";
import type { Counters } from "../core/counters.ts";
import type { Finding, FindingAccess } from "../core/findings.ts";

const SHOWN = 5;

/** Code KERNEL_FINDINGS. The launch ran to its end; buffers hold what it wrote. */
export class SimulationError extends EvolverError {
  readonly findings: readonly Finding[];
  readonly counters: Counters | null;

  constructor(kernel: string, findings: readonly Finding[], counters: Counters | null) {
    const more = findings.length > SHOWN ? `\n  and ${findings.length - SHOWN} more` : "";
    const list = findings
      .slice(0, SHOWN)
      .map((finding) => `  ${formatFinding(finding).replaceAll("\n", "\n  ")}`);
    super(
      "KERNEL_FINDINGS",
      `kernel "${kernel}" has ${findings.length} finding${findings.length === 1 ? "" : "s"}:\n${list.join("\n")}${more}`,
      { hint: 'open the device with onFinding: "collect" to continue in spite of findings' },
    );
    this.name = "SimulationError";
    this.findings = findings;
    this.counters = counters;
  }
}

/** Code LAUNCH_ABORTED: the launch was stopped on its way (SimOptions.signal). Buffers hold what it had written. */
export class SimulationAborted extends EvolverError {
  /** What had been found. */
  readonly findings: readonly Finding[];

  constructor(kernel: string, findings: readonly Finding[]) {
    super("LAUNCH_ABORTED", `the launch of kernel "${kernel}" was stopped before its end`, {
      hint: "its findings so far are in `findings`",
    });
    this.name = "SimulationAborted";
    this.findings = findings;
  }
}

/** A finding as text: what is wrong, then a line for each access. */
export function formatFinding(finding: Finding): string {
  const times = finding.count > 1 ? ` (${finding.count} times)` : "";
  const lines = finding.accesses.map((access) => `  ${formatAccess(access)}`);
  return [`${finding.kind}: ${finding.message}${times}`, ...lines].join("\n");
}

function formatAccess({ action, location, lanes, workgroup }: FindingAccess): string {
  return `${action} at ${formatLocation(location)} by ${formatLanes(lanes)} of workgroup [${workgroup.join(", ")}]`;
}

/** Local indices with runs contracted: "lanes 0-31, 40". */
function formatLanes(lanes: readonly number[]): string {
  const runs: string[] = [];
  for (let i = 0; i < lanes.length;) {
    let end = i;
    while (end + 1 < lanes.length && lanes[end + 1] === (lanes[end] as number) + 1) end++;
    runs.push(end > i ? `${lanes[i]}-${lanes[end]}` : String(lanes[i]));
    i = end + 1;
  }
  return `lane${lanes.length === 1 ? "" : "s"} ${runs.join(", ")}`;
}
