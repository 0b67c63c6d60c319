/**
 * The findings of several runs of one kernel, and which of them say something of the kernel where the contents of some
 * buffers were made up.
 */

import type { Finding } from "../core/findings.ts";

/** Findings of runs, each kind once per set of lines. */
export class Findings {
  readonly byPlace = new Map<string, Finding>();

  constructor(findings: readonly Finding[] = []) {
    this.add(findings);
  }

  add(findings: readonly Finding[]): void {
    for (const finding of findings) {
      const places = finding.accesses.map(({ location }) => `${location.file}:${location.line}`);
      // A race seen from its other side is the same race.
      const key = `${finding.kind} ${places.toSorted().join(" ")}`;
      if (!this.byPlace.has(key)) this.byPlace.set(key, finding);
    }
  }
}

export interface Weighed {
  readonly findings: readonly Finding[];
  /** Those that depend on contents that nobody has promised. */
  readonly conditional: readonly Finding[];
}

/**
 * What is found with both kinds of contents is a fault of the kernel. What is found with one alone is one where two accesses
 * race and one reads. Else the contents may be to blame: writes meet where an index comes twice, and a made-up index may
 * lie outside.
 *
 * @param mixed found where integers were different numbers
 * @param zeros found where they were all zero
 * @param madeUp the buffers that held them
 */
export function weigh(mixed: Findings, zeros: Findings, madeUp: readonly string[]): Weighed {
  const findings: Finding[] = [];
  const conditional: Finding[] = [];
  const sort = (found: Findings, other: Findings, contents: string): void => {
    for (const [key, finding] of found.byPlace) {
      const message = `${finding.message} (where ${madeUp.join(", ")} ${madeUp.length === 1 ? "holds" : "hold"} ${contents})`;
      if (other.byPlace.has(key)) findings.push(finding);
      else if (isRaceOfReader(finding)) findings.push({ ...finding, message });
      else conditional.push({ ...finding, message });
    }
  };
  sort(mixed, zeros, "different numbers");
  const onlyZeros = new Findings();
  for (const [key, finding] of zeros.byPlace)
    if (!mixed.byPlace.has(key)) onlyZeros.byPlace.set(key, finding);
  sort(onlyZeros, mixed, "zeros");
  return { findings, conditional };
}

const isRaceOfReader = ({ kind, accesses }: Finding): boolean =>
  kind === "data-race" && accesses.some(({ action }) => action !== "write");
