/** What a workspace's cycles found, by study and input. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { readRecords, type CycleRecord, type StudyInput } from "@evolver/lab";

export interface CycleSearch {
  /** A folder, which need not exist. */
  readonly workspace: string;
  readonly study: string;
  /** Any if left out. */
  readonly device?: string;
  readonly input: StudyInput;
  /** The parts of the input that must agree; all if left out. */
  readonly names?: readonly string[];
}

/** The last cycle about a study and an input; its outcome has the champion. Undefined where there is none. */
export function lastCycle({ workspace, study, device, input, names }: CycleSearch): CycleRecord | undefined {
  const folder = resolve(workspace);
  const records = existsSync(folder) ? readRecords(folder) : [];
  return records.findLast(({ objective }) => {
    if (objective.study !== study || (device !== undefined && objective.device !== device)) return false;
    const parts = names ?? Object.keys({ ...objective.input, ...input });
    return parts.every((name) => JSON.stringify(objective.input[name]) === JSON.stringify(input[name]));
  });
}
