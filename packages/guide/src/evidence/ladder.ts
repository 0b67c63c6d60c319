/** What `evolver ladder --json` measured. */

import * as v from "valibot";
import type { Kept } from "./document.ts";
import { flag, measured, once, positive, text } from "./schema-parts.ts";
import type { MeasuredStudy } from "./study.ts";

export interface MeasuredRung {
  readonly id: string;
  readonly verified: boolean;
  readonly timeMs: number;
  readonly modelledTimeMs: number;
  readonly tflops: number;
  readonly globalSectors: number;
}

export type LadderEvidence = Kept<{
  readonly deviceName: string;
  /** "B1,Hq8,Hkv8,S1024,D64, random data" */
  readonly input: string;
  /** Of the modelled times. */
  readonly profile: string;
  readonly rungs: ReadonlyMap<string, MeasuredRung>;
}>;

/** A shape on both devices. */
export interface LadderPair {
  readonly cuda: LadderEvidence | null;
  readonly webgpu: LadderEvidence | null;
}

export const ladderSchema = ({ rungs }: MeasuredStudy) =>
  v.pipe(
    v.object({
      timeKind: measured,
      deviceName: text,
      input: text,
      profile: text,
      rungs: v.pipe(
        v.array(
          v.object({
            id: v.picklist(rungs.map(({ id }) => id)),
            verified: flag,
            timeMs: positive,
            modelledTimeMs: positive,
            tflops: positive,
            counters: v.object({ globalSectors: positive }),
          }),
        ),
        once("id"),
      ),
    }),
    v.transform(({ deviceName, input, profile, rungs: all }) => ({
      deviceName,
      input,
      profile,
      rungs: new Map(
        all.map(({ counters, ...rung }): [string, MeasuredRung] => [
          rung.id,
          { ...rung, globalSectors: counters.globalSectors },
        ]),
      ),
    })),
  );
