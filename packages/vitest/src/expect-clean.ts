/** Expects that the simulator finds nothing wrong with a kernel. */

import { EvolverError } from "@evolver/base";
import {
  describeFinding,
  describeLaunch,
  nativeUse,
  type KernelCheck,
  type ToldFinding,
} from "@evolver/device/check";
import { nativeUsesOf, usesIn } from "@evolver/device/check/source";
import type { Kernel, Params, Tune } from "@evolver/kernel";
import { callOf, shortPath } from "./failure.ts";
import { runChecks, type AnyKernel, type RunOptions } from "./run.ts";

/** What is launched, and under what. */
export interface CleanOptions<P extends Params> extends RunOptions<P> {
  /** Subgroup widths, powers of two from 4 to 128: 32 if absent. */
  readonly subgroup?: number | readonly number[];
  /** Orders of subgroups and workgroups to try: 3 if absent. */
  readonly schedules?: number;
  /** Whether a result that depends on the order is wrong, too. */
  readonly deterministic?: boolean;
}

/**
 * Runs the kernel's example launch on the simulator under all checks, as `evolver check` does, and fails with what they find:
 * races, accesses out of bounds, values that nobody wrote, barriers that not all reach, and more.
 *
 * @throws AssertionError with the findings, each with its lines and invocations
 * @throws EvolverError where the options are wrong
 */
export async function expectClean<P extends Params, T extends Tune>(
  kernel: Kernel<P, T>,
  options: CleanOptions<P> = {},
): Promise<void> {
  const call = callOf(expectClean);
  const any = kernel as unknown as AnyKernel;
  const { subgroup = 32, schedules = 3, deterministic = false } = options;
  const widths = typeof subgroup === "number" ? [subgroup] : subgroup;
  if (widths.length === 0)
    throw new EvolverError("INVALID_OPTION", "expectClean is given no subgroup width", {
      hint: "give one or several: subgroup: [32, 64]",
    });
  const found = new Found();
  let last: KernelCheck | null = null;
  for (const width of widths) {
    last = await runChecks(any, options, { subgroup: width, schedules });
    found.add(width, deterministic ? [...last.findings, ...last.warnings] : last.findings);
  }
  const native = await nativeUsesIn(any, widths[0] as number);
  const findings = [...found.findings, ...native];
  if (findings.length === 0) return;
  const count = `${findings.length} finding${findings.length === 1 ? "" : "s"}`;
  const lines = [`kernel "${kernel.name}" is not clean ${atWidths(widths)}: ${count}`];
  for (const finding of found.findings) {
    const [first = "", ...rest] = describeFinding(finding, shortPath);
    const at = found.widthsOf(finding);
    lines.push(at.length === widths.length ? first : `${first} (${atWidths(at)} only)`, ...rest);
  }
  for (const finding of native) lines.push(...describeFinding(finding, shortPath));
  if (last?.launch) lines.push(launchLine(last.launch));
  throw call.failure(lines.join("\n"), findings[0]?.accesses);
}

/** What was launched, and what of it nobody gave. */
export function launchLine({ workgroups, summary, guessed }: NonNullable<KernelCheck["launch"]>): string {
  const guess =
    guessed.length === 0 ? "" : `\n  guessed: ${guessed.join(", ")}; give the kernel an \`example\``;
  return `  launch: ${describeLaunch(workgroups, summary)}${guess}`;
}

function atWidths(widths: readonly number[]): string {
  const last = widths.at(-1) as number;
  return widths.length === 1
    ? `at subgroup width ${last}`
    : `at subgroup widths ${widths.slice(0, -1).join(", ")} and ${last}`;
}

/** Findings at all widths, each once, with the widths at which it showed. */
class Found {
  readonly #byPlace = new Map<string, { readonly finding: ToldFinding; readonly widths: number[] }>();

  get findings(): readonly ToldFinding[] {
    return [...this.#byPlace.values()].map(({ finding }) => finding);
  }

  add(width: number, findings: readonly ToldFinding[]): void {
    for (const finding of findings) {
      const known = this.#byPlace.get(keyOf(finding));
      if (known === undefined) this.#byPlace.set(keyOf(finding), { finding, widths: [width] });
      else if (!known.widths.includes(width)) known.widths.push(width);
    }
  }

  widthsOf(finding: ToldFinding): readonly number[] {
    return this.#byPlace.get(keyOf(finding))?.widths ?? [];
  }
}

/** A race seen from its other side is the same race. */
function keyOf({ kind, accesses }: ToldFinding): string {
  const places = accesses.map(({ file, line }) => `${file}:${line}`);
  return `${kind} ${places.toSorted().join(" ")}`;
}

/** Run-time values that the source uses as JavaScript values; none where TypeScript is not installed. */
async function nativeUsesIn(kernel: AnyKernel, subgroup: number): Promise<ToldFinding[]> {
  const { uses } = await nativeUsesOf(kernel.site.location.file, [kernel], subgroup);
  return usesIn(kernel, uses).map(nativeUse);
}
