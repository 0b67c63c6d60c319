/**
 * What evidence needs to know of the study that was measured: which rungs there are, what a point is, how inputs are read.
 * The guide knows no study by itself; a library passes its own.
 */

import type { Axis, Point } from "@evolver/lab";

export interface MeasuredStudy {
  /** As the command line names it. */
  readonly id: string;
  /** Before the names of its files in a folder that holds several studies: "softmax-"; the first one has none. */
  readonly prefix: string;
  /** What its ladders' files end in, one per input: "" for ladder-cuda.json, "-gqa" for ladder-cuda-gqa.json. */
  readonly ladders: readonly string[];
  /** The ladder, in order. */
  readonly rungs: readonly { readonly id: string; readonly point: Point }[];
  readonly axes: readonly Axis[];
  /** The rung that champions are told by: the fastest that was written by hand. */
  readonly reference: string;
  /** What an input is, by the text that reports have; null where it is no shape, such as a file of tensors. */
  problemOf(input: string): { readonly shape: string; readonly flops: number } | null;
  /** The point of a rung as it fits an input that `problemOf` knows. */
  fitted(rung: string, input: string): Point;
  /** Known reasons why hardware counts something else than the simulator; the first that applies is told. */
  readonly counterNotes: readonly CounterNote[];
}

/** A counter of a rung, by Nsight Compute and by the simulator. */
export interface HardwareCounter {
  readonly rung: string;
  readonly counter: string;
  /** Null where the GPU has no such counter. */
  readonly ncu: number | null;
  readonly sim: number;
  readonly flagged: boolean;
  readonly note: string | null;
}

export interface CounterNote {
  /** By the titles in ncu-metrics.ts. */
  readonly counters: readonly string[];
  applies(row: HardwareCounter): boolean;
  readonly why: string;
}
