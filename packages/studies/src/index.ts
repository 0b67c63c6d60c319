/** The studies that the lab can work on, by name, with what the command line needs of each. */

import {
  attentionDefinition,
  attentionGuide,
  attentionLadder,
  attentionPointKernel,
  attentionRungKernel,
  type RungBuild,
  type RungKernel,
} from "@evolver/attention/study";
import { EvolverError } from "@evolver/base";
import type { Guide, GuideOptions, LadderOptions, LadderReport, Point, StudyDefinition } from "@evolver/lab";

export type { RungBuild, RungKernel } from "@evolver/attention/study";

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
