/** Each task as a study, by its id: `evolver evolve tasks/sum`. */

import { EvolverError } from "@evolver/base";
import { tunableOf, TunablePlan, type Tunable } from "@evolver/device";
import { openTunable, studyOf, type OpenStudy, type Study, type StudyInput } from "@evolver/lab";
import { tasks, type Task } from "@evolver/tasks";

/** In the order of the registry. */
export const taskIds: readonly string[] = tasks.map(({ id }) => id);

/** @throws EvolverError UNKNOWN_TASK */
export function findTask(id: string): Task {
  const task = tasks.find((each) => each.id === id);
  if (task !== undefined) return task;
  throw new EvolverError("UNKNOWN_TASK", `there is no task "${id}"`, {
    hint: `tasks are ${taskIds.join(", ")}`,
  });
}

export async function tunableOfTask({ load }: Task): Promise<Tunable> {
  const found = await load();
  return found instanceof TunablePlan ? found : tunableOf(found);
}

/** @throws EvolverError UNKNOWN_TASK */
export async function taskStudy(id: string): Promise<Study> {
  const tunable = await tunableOfTask(findTask(id));
  const source = { module: import.meta.url, export: "study", input: { task: id } };
  return { ...studyOf(tunable, source), id: `tasks-${id}` };
}

/**
 * What the judge opens: it finds the task in the input.
 *
 * @public since the judge imports it by its name
 */
export const study = {
  async open(input: StudyInput, { id }: { readonly id: string }): Promise<OpenStudy> {
    return openTunable(await tunableOfTask(findTask(String(input["task"]))), input, id);
  },
};
