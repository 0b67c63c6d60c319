/** The rates that measured times are compared with: given as numbers, or from a machine profile. */

import { readFileSync } from "node:fs";
import type { MachineProfile } from "@evolver/machine";
import { EvolverError } from "@evolver/base";

interface Roof {
  readonly value: number;
  /** Where the number is from. */
  readonly from: string;
}

export interface Roofs {
  /** float32 by ordinary arithmetic (not tensor cores): an fma is two operations. Null where it is not known. */
  readonly peakTflops: Roof | null;
  readonly gbPerSecond: Roof | null;
}

/** Numbers given go before the profile's. @throws EvolverError PROFILE_INVALID, ROOF_INVALID */
export function readRoofs(
  profile: string | undefined,
  peakTflops: string | undefined,
  gbPerSecond: string | undefined,
): Roofs {
  const measured = profile === undefined ? { peakTflops: null, gbPerSecond: null } : fromProfile(profile);
  return {
    peakTflops: given("--peak-tflops", peakTflops) ?? measured.peakTflops,
    gbPerSecond: given("--gb-per-second", gbPerSecond) ?? measured.gbPerSecond,
  };
}

function given(option: string, text: string | undefined): Roof | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return { value, from: option };
  throw new EvolverError("ROOF_INVALID", `${option} is "${text}", and must be a number above 0`);
}

function fromProfile(file: string): Roofs {
  const parsed = JSON.parse(readFileSync(file, "utf8")) as Partial<MachineProfile> | null;
  const { multiprocessors, clockGHz, arithmeticLanesPerClock, memoryGBPerSecond, name } = parsed ?? {};
  const lanes = [multiprocessors, clockGHz, arithmeticLanesPerClock].map((rate) => rate?.value);
  const peak = lanes.reduce<number>((product, value) => product * (value ?? Number.NaN), 2) / 1000;
  const bandwidth = memoryGBPerSecond?.value ?? Number.NaN;
  if (!(peak > 0) || !(bandwidth > 0))
    throw new EvolverError("PROFILE_INVALID", `${file} is no machine profile`, {
      hint: "evolver bench microbench --save FILE.json writes one",
    });
  const from = (source: string | undefined): string => `${name ?? file}: ${source ?? "unknown source"}`;
  return {
    peakTflops: { value: peak, from: from(arithmeticLanesPerClock?.source) },
    gbPerSecond: { value: bandwidth, from: from(memoryGBPerSecond?.source) },
  };
}
