/** The roofline: the least time that a problem can take on a machine, whichever kernel solves it. */

import { duration, grouped } from "@evolver/base";
import type { MachineProfile } from "@evolver/machine";

/** The least time that a machine needs for a problem, whatever the kernel. */
export interface Roof {
  readonly timeMs: number;
  /** What it is made of, for people: "268 MB of memory at 4,800 GB/s". */
  readonly what: string;
}

/** @param work bytes that have to move to or from memory, and floating-point operations */
export function roofOf(
  machine: MachineProfile,
  { bytes, flops }: { readonly bytes: number; readonly flops: number },
): Roof {
  const { memoryGBPerSecond, multiprocessors, clockGHz, arithmeticLanesPerClock } = machine;
  // A lane does a product and a sum per clock.
  const gflops = 2 * multiprocessors.value * clockGHz.value * arithmeticLanesPerClock.value;
  const memoryMs = bytes / memoryGBPerSecond.value / 1e6;
  const arithmeticMs = flops / gflops / 1e6;
  return memoryMs >= arithmeticMs
    ? {
        timeMs: memoryMs,
        what: `${(bytes / 1e6).toPrecision(3)} MB of memory at ${grouped(Math.round(memoryGBPerSecond.value))} GB/s`,
      }
    : {
        timeMs: arithmeticMs,
        what: `${(flops / 1e9).toPrecision(3)} GFLOP at ${(gflops / 1000).toPrecision(3)} TFLOP/s`,
      };
}

/** "81 % of the roof of My GPU (datasheet): 57.1 µs for 268 MB of memory at 4,800 GB/s" */
export const shareOfRoof = ({ timeMs, what }: Roof, takenMs: number, machine: string): string =>
  `${Number(((100 * timeMs) / takenMs).toPrecision(2))} % of the roof of ${machine}: ${duration(timeMs)} for ${what}`;
