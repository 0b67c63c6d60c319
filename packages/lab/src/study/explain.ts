/** Explains a modelled time, for people and for the next choice of candidates; the part that all studies share. */

import type { MachineProfile, TermName } from "@evolver/machine";
import type { Explanation, Measurement } from "./measurement.ts";

/** Axes to change when a resource decides, the most promising first. */
export type Remedies = Readonly<Record<TermName, readonly string[]>>;

/** What `explainModelled` needs to know about a study. */
export interface ExplainOptions {
  readonly machine: MachineProfile;
  readonly remedies: Remedies;
  /** Bytes that every candidate has to read once, and whose they are: "q, k and v". */
  readonly compulsoryRead: { readonly bytes: number; readonly of: string };
  /** The candidate in words; null for one that is not a point of the space. */
  readonly description: string | null;
}

/** @param measurement as `modelledMeasurement` gives it, or with its details beside a measured time */
export function explainModelled(
  { details = {}, counters }: Measurement,
  { machine, remedies, compulsoryRead, description }: ExplainOptions,
): Explanation {
  const bottleneck = details["bottleneck"] as TermName;
  const terms = Object.entries(details["terms"] as Record<string, number>);
  const shares = terms
    .slice(0, 3)
    .map(([name, timeMs]) => `${name} ${Math.round((100 * timeMs) / (terms[0]?.[1] ?? 1))} %`);
  const observations = [`On ${machine.name}, modelled, ${bottleneck} decides (${shares.join(", ")}).`];
  if (counters !== null) {
    const { sharedConflicts, sharedPasses, globalReadBytes } = counters;
    if (sharedConflicts > 0)
      observations.push(
        `${Math.round((100 * sharedConflicts) / sharedPasses)} % of the passes over shared memory are bank conflicts.`,
      );
    observations.push(
      `It reads ${(globalReadBytes / compulsoryRead.bytes).toPrecision(3)} times the bytes of ${compulsoryRead.of}.`,
    );
  }
  const resident = Number(details["residentWorkgroups"]);
  const fits = `${resident === 1 ? "1 workgroup fits" : `${resident} workgroups fit`} on a multiprocessor.`;
  observations.push(`${description ?? "A kernel that is not a point of the space"}; ${fits}`);
  return { bottleneck, observations, axes: remedies[bottleneck] };
}
