/** The studies that the lab can work on: one line each, and each is loaded when it is asked for. */

import { EvolverError } from "@evolver/base";
import type { Study } from "@evolver/lab";

const studies: Readonly<Record<string, () => Promise<{ readonly study: Study }>>> = {
  attention: () => import("@evolver/attention/study"),
  softmax: () => import("@evolver/softmax/study"),
};

/** Studies of many kernels, each by a name of its own after the slash: "tasks/sum". */
const families: Readonly<Record<string, (id: string) => Promise<Study>>> = {
  tasks: async (id) => (await import("@evolver/tasks/study")).taskStudy(id),
};

/** In the order of the help. */
export const studyNames: readonly string[] = Object.keys(studies);
export const familyNames: readonly string[] = Object.keys(families);

/** @throws EvolverError UNKNOWN_STUDY, UNKNOWN_TASK */
export async function loadStudy(name: string): Promise<Study> {
  const [first = "", ...rest] = name.split("/");
  const family = Object.hasOwn(families, first) ? families[first] : undefined;
  if (family !== undefined) return family(rest.join("/"));
  const load = Object.hasOwn(studies, name) ? studies[name] : undefined;
  if (load !== undefined) return (await load()).study;
  throw new EvolverError("UNKNOWN_STUDY", `there is no study "${name}"`, {
    hint: `studies are ${studyNames.join(", ")}, each of ${familyNames.map((each) => `${each}/…`).join(", ")}, and files of yours`,
  });
}

/** The tasks and what runs them, for `evolver bench tasks`. */
export const loadTasks = () => import("@evolver/tasks/study");

export type { TaskReport, TasksReport } from "@evolver/tasks/study";
