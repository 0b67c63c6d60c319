/** What a run of the microbenchmarks says, as data; text and plots are made from it. */

import type { PlotSpec } from "@evolver/base";
import type { MachineFacts } from "@evolver/device";
import type { Unit } from "./spec.ts";

/** What the simulator counted for one launch of a case. */
export interface CaseCounters {
  readonly globalReadBytes: number;
  readonly globalWriteBytes: number;
  readonly globalSectors: number;
  readonly sharedPasses: number;
  readonly sharedConflicts: number;
  readonly barriers: number;
  readonly flops: number;
  readonly atomics: number;
}

export interface Result {
  readonly id: string;
  readonly name: string;
  /** In the unit; null where nothing is measured (`sim`) or the case was skipped. */
  readonly value: number | null;
  readonly unit: Unit;
  /** The middle half of the repetitions is so wide, relative to the median. */
  readonly spread: number | null;
  /** The results on the device are right. */
  readonly verified: boolean;
  /** What is wrong, or why it was skipped; null if nothing is. */
  readonly note: string | null;
  readonly skipped: boolean;
  /** Milliseconds of one timed launch or batch, the median. */
  readonly timeMs: number | null;
  readonly settings: Readonly<Record<string, number | string>>;
  /** Only on `sim`. */
  readonly counters: CaseCounters | null;
}

/** A number that several results gave together, for the profile and for people. */
export interface Figure {
  readonly id: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** What one test found. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly results: readonly Result[];
  readonly figures: readonly Figure[];
  readonly plots: readonly PlotSpec[];
}

export interface Clock {
  readonly gigahertz: number;
  /** Where it is from. */
  readonly source: string;
}

/** What the microbenchmarks found on a device. */
export interface MicrobenchReport {
  readonly device: string;
  /** The processor or card. */
  readonly deviceName: string;
  readonly subgroup: number;
  /** "none" on `sim`: results are verified and counted, not timed. */
  readonly timeKind: "measured" | "none";
  readonly quick: boolean;
  /** What latencies in clocks are based on; null where it is not known. */
  readonly clock: Clock | null;
  /** What the driver says of the machine, if it does. */
  readonly machine: MachineFacts | null;
  /** Multiprocessors that grids were laid out for: the machine's, or a guess. */
  readonly multiprocessors: number;
  readonly sections: readonly Section[];
  /** All results are right. */
  readonly verified: boolean;
  readonly seconds: number;
}
