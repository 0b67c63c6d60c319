/**
 * Makes a machine profile from a report. Each number has its source: measured, from the driver, or assumed from the one
 * machine whose datasheet we have. Where the clock rate is not known, a clock is one nanosecond; where the number of
 * multiprocessors is not known, it is one. The model's times are the same.
 */

import { h200Datasheet, type MachineProfile, type Rate } from "../profile/profile.ts";
import type { MicrobenchReport } from "./report.ts";

type RateName = {
  [K in keyof MachineProfile]: MachineProfile[K] extends Rate ? K : never;
}[keyof MachineProfile];

/** The machine profile that a report of the microbenchmarks gives. */
export function profileOf(report: MicrobenchReport): MachineProfile {
  const { clock, machine } = report;
  const figures = new Map(
    report.sections.flatMap(({ figures: all }) => all.map(({ id, value }) => [id, value] as const)),
  );
  const clockGHz = clock?.gigahertz ?? 1;
  const multiprocessors = machine?.multiprocessors ?? 1;
  const figure = (id: string, scale = 1): number | null => {
    const value = figures.get(id);
    return value === undefined || !(value > 0) ? null : value * scale;
  };
  /** What all multiprocessors do each second, in billions, as what one does each clock. */
  const eachClock = (id: string, scale = 1): number | null => figure(id, scale / clockGHz / multiprocessors);
  const clocks = (id: string): number | null => figure(id, clockGHz);
  const measured: Partial<Record<RateName, number | null>> = {
    arithmeticLanesPerClock: eachClock("fmaPeak", 1 / 2),
    specialLanesPerClock: eachClock("exp2FlushedPeak"),
    // What is known: fma instructions start at this rate, and nothing was seen to start faster.
    issuesPerClock: eachClock("fmaPeak", 1 / 2 / report.subgroup),
    shuffleLanesPerClock: eachClock("shufflePeak"),
    sharedPassesPerClock: eachClock("sharedGBPerSecond", 1 / 128),
    sectorsPerClock: eachClock("firstLevelGBPerSecond", 1 / 32),
    cacheGBPerSecond: figure("cacheGBPerSecond"),
    memoryGBPerSecond: figure("copyGBPerSecond"),
    firstLevelLatencyClocks: clocks("firstLevelLatencyNs"),
    cacheLatencyClocks: clocks("cacheLatencyNs"),
    globalLatencyClocks: clocks("memoryLatencyNs"),
    sharedLatencyClocks: clocks("sharedLatencyNs"),
    barrierClocks: clocks("barrierNs"),
    arithmeticLatencyClocks: clocks("fmaLatencyNs"),
    launchMicroseconds: figure("launchMicroseconds"),
    contendedAtomicsPerMicrosecond: figure("contendedAtomicsPerMicrosecond"),
    globalAtomicsPerMicrosecond: figure("globalAtomicsPerMicrosecond"),
    sharedAtomicsPerMicrosecond: figure("sharedAtomicsPerMicrosecond", 1 / multiprocessors),
  };
  const driver: Partial<Record<RateName, number | null>> = {
    multiprocessors: machine?.multiprocessors ?? null,
    clockGHz: machine?.clockGHz ?? null,
    maxInvocationsPerMultiprocessor: machine?.maxInvocationsPerMultiprocessor ?? null,
    maxWorkgroupsPerMultiprocessor: machine?.maxWorkgroupsPerMultiprocessor ?? null,
    sharedBytesPerMultiprocessor: machine?.sharedBytesPerMultiprocessor ?? null,
  };
  const fallback: Partial<Record<RateName, number>> = { multiprocessors, clockGHz };
  const rate = (name: RateName): Rate => {
    const own = measured[name] ?? null;
    if (own !== null) return { value: own, source: "measured" };
    const said = driver[name] ?? null;
    if (said !== null) return { value: said, source: "driver" };
    return { value: fallback[name] ?? h200Datasheet[name].value, source: "assumed" };
  };
  const names = Object.keys(h200Datasheet).filter(
    (name): name is RateName => typeof h200Datasheet[name as keyof MachineProfile] === "object",
  );
  const rates = Object.fromEntries(names.map((name) => [name, rate(name)])) as Record<RateName, Rate>;
  const isMeasured = Object.values(rates).every(({ source }) => source !== "assumed");
  return {
    name: `${report.deviceName} (${report.device}, ${isMeasured ? "measured" : "measured in part"})`,
    source: isMeasured ? "measured" : "assumed",
    subgroupSize: report.subgroup,
    ...rates,
  };
}
