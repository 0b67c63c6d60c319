/** The studies that the lab can work on, by name, with what the command line needs of each. */

import { EvolverError } from "@evolver/kernel";
import type { Point, StudyDefinition } from "@evolver/lab";
import { attentionGuide } from "./attention/guide/index.ts";
import { attentionLadder } from "./attention/ladder.ts";
import {
  attentionPointKernel,
  attentionRungKernel,
  type RungBuild,
  type RungKernel,
} from "./attention/rung.ts";
import { attentionDefinition } from "./attention/study.ts";
import type { Guide, GuideOptions, LadderOptions, LadderReport } from "./report.ts";

export { attentionDefinition } from "./attention/study.ts";
export type { RungBuild, RungKernel } from "./attention/rung.ts";
export type { Guide, LadderOptions, LadderReport, RungReport } from "./report.ts";

export interface StudyEntry {
  // The lab is generic over points and shapes; a list of studies is not.
  readonly definition: StudyDefinition;
  ladder(options: LadderOptions): Promise<LadderReport>;
  /** A learner's guide to the ladder, with what was measured. */
  guide(options: GuideOptions): Promise<Guide>;
  /** A rung's kernel for a shape in text form, or for the study's default, with a self-test of it. */
  rungKernel(id: string, build: RungBuild, shape: string | null): RungKernel;
  /** The same for any point of the study's space, such as a champion. */
  pointKernel(title: string, point: Point, build: RungBuild, shape: string): RungKernel;
}

const studies: Readonly<Record<string, StudyEntry>> = {
  attention: {
    definition: attentionDefinition as unknown as StudyDefinition,
    ladder: attentionLadder,
    guide: attentionGuide,
    rungKernel: attentionRungKernel,
    pointKernel: attentionPointKernel,
  },
};

export const isStudy = (name: string): boolean => Object.hasOwn(studies, name);

/** @throws EvolverError UNKNOWN_STUDY */
export function findStudy(name: string): StudyEntry {
  const study = isStudy(name) ? studies[name] : undefined;
  if (study !== undefined) return study;
  throw new EvolverError("UNKNOWN_STUDY", `there is no study "${name}"`, {
    hint: `studies are ${Object.keys(studies).join(", ")}`,
  });
}
