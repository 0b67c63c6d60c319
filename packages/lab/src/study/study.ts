/**
 * What a library offers the lab so that one of its kernels can be improved. To add a study, write an object of this type,
 * export it as `study` from the subpath `./study` of the library, and add one line to the registry (`@evolver/studies`).
 * The command line, its help and the judge take everything else from here.
 */

import type { RungName } from "@evolver/device";
import type { EmitTarget, KernelIR, Selftest } from "@evolver/kernel";
import type { Shape } from "./case.ts";
import type { EvidenceCommand } from "./evidence.ts";
import type { OpenStudy } from "./open-study.ts";
import type { StudyInput, StudyOption } from "./option.ts";
import type { Point } from "./point.ts";
import type { Guide, GuideOptions, LadderOptions, LadderReport } from "./report.ts";

/** What can be improved: its candidates, reference, cases and objective. */
export interface Study<P extends Point = Point, S extends Shape = Shape> {
  /** What the command line calls it. */
  readonly id: string;
  readonly title: string;
  /** The module that exports this object, its `import.meta.url`: the judge, another process, loads it from there. */
  readonly module: string;
  /** The name that the module exports it under. */
  readonly export: string;
  /** What it takes on the command line. The values that are given there go to `parseInput`, by the options' names. */
  readonly options: readonly StudyOption[];
  /**
   * Checks options, of which any may be left out, and gives them in full and normalised, with paths absolute: equal
   * inputs are the same objective. What it gives can be read again from JSON.
   *
   * @throws EvolverError if they are wrong
   */
  parseInput(options: StudyInput): Promise<StudyInput>;
  /** @param input as `parseInput` gives it */
  open(input: StudyInput, device: { readonly id: string }): Promise<OpenStudy<P, S>>;
  /** For `evolver ladder`. */
  readonly ladder?: StudyLadder;
  /** For `evolver guide`: a learner's guide to the ladder, with what was measured. */
  guide?(options: GuideOptions): Promise<Guide>;
  /** For `evolver evidence collect`: what can be measured of it on a machine. */
  readonly evidence?: readonly EvidenceCommand[];
  /** For `evolver emit`. @throws EvolverError if there is no such rung, or it does not fit the input */
  kernel?(request: KernelRequest): StudyKernel;
}

/** Named points of the space, from a plain kernel to a fast one, each with claims about what it changes. */
export interface StudyLadder {
  /** Those that run where none is named. */
  readonly rungs: readonly { readonly id: string; readonly title: string }[];
  /** All that can be named: the rungs and, after each, its variants. */
  readonly named: readonly RungName[];
  /** Verifies, counts and times rungs; `runLadder` does it for all studies alike. */
  run(options: LadderOptions): Promise<LadderReport>;
}

/** Which kernel is wanted by itself, and for what. */
export interface KernelRequest {
  readonly candidate:
    | { readonly kind: "rung"; readonly id: string }
    /** Any point of the space, such as a champion, with a title for it. */
    | { readonly kind: "point"; readonly title: string; readonly point: Point };
  /** As `parseInput` gives it. */
  readonly input: StudyInput;
  readonly target: EmitTarget;
  readonly subgroup: number;
}

/** A kernel of a study with a launch of its own. */
export interface StudyKernel {
  readonly kernel: KernelIR;
  /** A launch of it on the input's sizes, whose results the program judges. */
  readonly selftest: Selftest;
}
