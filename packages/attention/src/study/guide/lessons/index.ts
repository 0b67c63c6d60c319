/** The lessons by rung. */

import { EvolverError } from "@evolver/base";
import type { Lesson } from "@evolver/guide";
import { k01 } from "./k01.ts";
import { k02 } from "./k02.ts";
import { k03 } from "./k03.ts";
import { k04 } from "./k04.ts";
import { k05 } from "./k05.ts";
import { k06 } from "./k06.ts";
import { k07 } from "./k07.ts";
import { k08 } from "./k08.ts";
import { k09 } from "./k09.ts";
import { k10 } from "./k10.ts";
import { k11 } from "./k11.ts";
import { k12 } from "./k12.ts";

const lessons: Readonly<Record<string, Lesson>> = {
  k01,
  k02,
  k03,
  k04,
  k05,
  k06,
  k07,
  k08,
  k09,
  k10,
  k11,
  k12,
};

/** @throws EvolverError LESSON_MISSING for a rung that nobody wrote one for */
export function lessonOf(rung: string): Lesson {
  const lesson = Object.hasOwn(lessons, rung) ? lessons[rung] : undefined;
  if (lesson !== undefined) return lesson;
  throw new EvolverError("LESSON_MISSING", `the guide has no lesson for ${rung}`, {
    hint: "write one in packages/attention/src/study/guide/lessons, with questions",
  });
}
