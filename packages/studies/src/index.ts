/** The studies that the lab can work on: one line each, and each is loaded when it is asked for. */

import { EvolverError } from "@evolver/base";
import type { Study } from "@evolver/lab";

const studies: Readonly<Record<string, () => Promise<{ readonly study: Study }>>> = {
  attention: () => import("@evolver/attention/study"),
  softmax: () => import("@evolver/softmax/study"),
};

/** In the order of the help. */
export const studyNames: readonly string[] = Object.keys(studies);

/** @throws EvolverError UNKNOWN_STUDY */
export async function loadStudy(name: string): Promise<Study> {
  const load = Object.hasOwn(studies, name) ? studies[name] : undefined;
  if (load !== undefined) return (await load()).study;
  throw new EvolverError("UNKNOWN_STUDY", `there is no study "${name}"`, {
    hint: `studies are ${studyNames.join(", ")}`,
  });
}
