/** Warnings about doubtful microbenchmark results: repetitions that differ much, or results that contradict each other. */

import type { MicrobenchReport } from "@evolver/machine";

/** Above this, repetitions of one measurement differ too much to trust their median. */
const WIDE = 0.2;

/** Lines for people, for standard error; none where nothing is measured. */
export function benchWarnings(
  { sections, timeKind }: Pick<MicrobenchReport, "sections" | "timeKind">,
  saved: boolean,
): string[] {
  if (timeKind === "none") return [];
  const results = sections.flatMap((section) => section.results).filter(({ spread }) => spread !== null);
  const wide = results.filter(({ spread }) => spread !== null && spread > WIDE);
  const figures = new Map(
    sections.flatMap((section) => section.figures.map(({ id, value }) => [id, value] as const)),
  );
  const [memory, cache] = [figures.get("copyGBPerSecond"), figures.get("cacheGBPerSecond")];
  const lines: string[] = [];
  if (wide.length > 0)
    lines.push(
      `warning: ${wide.length} of ${results.length} results vary by more than ${100 * WIDE} %; is the machine busy?${saved ? " The profile is only as good as they are." : ""}`,
    );
  if (saved && memory !== undefined && cache !== undefined && cache < memory)
    lines.push(
      `warning: the shared cache was measured slower (${cache.toPrecision(3)} GB/s) than memory (${memory.toPrecision(3)} GB/s), which is impossible; measure again before you use the profile`,
    );
  return lines;
}
