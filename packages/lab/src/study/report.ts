/** What `evolver ladder --json` prints, and what `evolver guide` writes. */

import type { ClaimResult, Counters } from "@evolver/device";
import type { StudyInput } from "./option.ts";

/** A rung, verified, timed and counted, with its claims. */
export interface RungReport {
  readonly id: string;
  readonly title: string;
  readonly idea: string;
  /** The output, or the part of it that the report names, is within the tolerance of the float64 reference. */
  readonly verified: boolean;
  /** Largest absolute error, and the largest that passes. */
  readonly error: number;
  readonly bound: number;
  /** In the report's `timeKind`. */
  readonly timeMs: number;
  /** From the simulator's counters and the profile; the same as `timeMs` where that is modelled. */
  readonly modelledTimeMs: number;
  /** By the usual count of FLOPs, which is the problem's and not the kernel's. */
  readonly tflops: number;
  /** For the whole launch; scaled where `sampledTiles` is less than `tiles`. */
  readonly counters: Counters;
  readonly workgroups: number;
  /** Units of work: as many as workgroups, unless these are persistent. */
  readonly tiles: number;
  readonly sampledTiles: number;
  /** What decides the modelled time. */
  readonly bottleneck: string;
  /** The problem that claims, and the numbers of `found`, are counted on: not the report's input. */
  readonly claimsOn: string;
  readonly claims: readonly ClaimResult[];
  readonly found: string;
}

/** What running the rungs of a ladder gives. */
export interface LadderReport {
  readonly study: string;
  readonly device: string;
  /** The processor or card. */
  readonly deviceName: string;
  readonly timeKind: "measured" | "modelled";
  /** The machine profile behind modelled times. */
  readonly profile: string;
  readonly input: string;
  /** What part of the output is compared with the reference, for people; null for all of it. */
  readonly compared: string | null;
  readonly rungs: readonly RungReport[];
}

/** What there is to do before a ladder ends. */
export interface LadderWork {
  readonly rungs: number;
  /** How often each runs on the device. */
  readonly runs: number;
  /** Of one run. */
  readonly flops: number;
}

/** Which rungs are run, on what. */
export interface LadderOptions {
  readonly device: string;
  /** As the study's `parseInput` gives it. */
  readonly input: StudyInput;
  /** Ids, of variants too, or null for all rungs that fit the device. */
  readonly rungs: readonly string[] | null;
  readonly seed: number;
  /** Told before the work begins. */
  readonly onWork?: (work: LadderWork) => void;
  readonly onRung?: (id: string, done: number, total: number) => void;
}

/** What a guide to a ladder is written with. */
export interface GuideOptions {
  /** A folder of measured evidence, or null for none. */
  readonly evidence: string | null;
  /** Where the pictures and pages will lie, as the document links to them. */
  readonly pictures: string;
  /** Told before the work begins. */
  readonly onWork?: (work: LadderWork) => void;
  readonly onRung?: (id: string, done: number, total: number) => void;
}

/** A guide to a ladder, as documents and pictures. */
export interface Guide {
  readonly markdown: string;
  /** SVG files by name. */
  readonly pictures: ReadonlyMap<string, string>;
  /** Further documents by name, beside the pictures. */
  readonly pages: ReadonlyMap<string, string>;
}
