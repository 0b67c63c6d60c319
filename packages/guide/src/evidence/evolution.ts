/** What `evolver evolve --json` found on a GPU. */

import * as v from "valibot";
import type { Point } from "@evolver/lab";
import type { Kept } from "./document.ts";
import { flag, measured, number, pointIn, positive, text } from "./schema-parts.ts";
import type { MeasuredStudy } from "./study.ts";

export type Evolution = Kept<{
  /** NAME of evolve-NAME.json. */
  readonly name: string;
  readonly device: string;
  /** "B1,Hq8,Hkv8,S512,D64, random data" */
  readonly input: string;
  readonly cycles: number;
  readonly trials: number;
  readonly interrupted: boolean;
  readonly baseline: { readonly title: string; readonly timeMs: number };
  /** The point is null where the champion is code, or from a space with fewer axes than today's. */
  readonly champion: { readonly title: string; readonly timeMs: number; readonly point: Point | null };
  readonly speedup: number;
  readonly rejected: readonly { readonly reason: string; readonly count: number }[];
}>;

export const evolutionSchema = (study: MeasuredStudy, name: string) => {
  const candidate = v.object({
    kind: v.picklist(["point", "module"]),
    point: v.optional(pointIn(study.axes), {}),
  });
  return v.pipe(
    v.object({
      timeKind: measured,
      device: text,
      input: text,
      cycles: number,
      trials: positive,
      interrupted: flag,
      baseline: v.object({ title: text, timeMs: positive }),
      champion: v.object({ title: text, timeMs: positive, candidate }),
      speedup: positive,
      rejected: v.array(v.object({ reason: text, count: positive })),
    }),
    v.transform(({ champion: { candidate: kept, ...champion }, ...report }) => ({
      ...report,
      name,
      champion: { ...champion, point: kept.point },
    })),
  );
};
