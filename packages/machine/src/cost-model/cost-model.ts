/**
 * Predicts a kernel's time from what the simulator counted and a machine profile. Deliberately small: it orders
 * candidates, it does not replace a clock.
 *
 * A multiprocessor's share of the workgroups keeps each of its units busy for some clocks. Units overlap, but not
 * completely: together they take more than the busiest and less than the sum (`busy`). A workgroup also has a time that it
 * takes if only its own dependences delay it (`latency`); workgroups that are resident together hide each other's latency.
 * All multiprocessors share the memory beyond them. The terms, the microbenchmark that measures each rate (`evolver bench
 * microbench`), and its place in the machine profile:
 *
 * | term | counts | microbenchmark: figure | profile |
 * | --- | --- | --- | --- |
 * | instruction issue | all instructions, a share of integer ones | arithmetic: fmaPeak | issuesPerClock |
 * | arithmetic | floating-point instructions | arithmetic: fmaPeak | arithmeticLanesPerClock |
 * | special functions | exp2, division, … | arithmetic: exp2FlushedPeak | specialLanesPerClock |
 * | shuffles | subgroup operations | shared: shufflePeak | shuffleLanesPerClock |
 * | shared memory | passes over the banks | shared: sharedGBPerSecond | sharedPassesPerClock |
 * | first-level cache | sectors | patterns: firstLevelGBPerSecond | sectorsPerClock |
 * | second-level cache | bytes requested | patterns: cacheGBPerSecond | cacheGBPerSecond |
 * | device memory | each buffer once | streams: copyGBPerSecond | memoryGBPerSecond |
 * | latency | dependent steps of one workgroup | chase: cacheLatencyNs; shared: sharedLatencyNs; barriers: barrierNs | cacheLatencyClocks, sharedLatencyClocks, barrierClocks |
 *
 * Integer instructions are mostly addresses: compilers move them out of loops or fold them into accesses, so a share of
 * them counts. How many workgroups are resident depends on registers, too, which only the compiler knows: see registers.ts.
 */

import { residentWorkgroupsOf, SECTOR_BYTES, type Counters, type WorkgroupNeeds } from "@evolver/device";
import { factsOf, type MachineProfile } from "../profile/profile.ts";
import { REGISTERS_PER_MULTIPROCESSOR } from "./registers.ts";

/** One launch, with counters for all of its workgroups (measured on all of them, or scaled from a sample). */
export interface Workload extends WorkgroupNeeds {
  readonly counters: Counters;
  readonly workgroups: number;
  /** 32-bit registers; where left out, they limit nothing. */
  readonly registersPerInvocation?: number;
  /** Bytes that must cross device memory however good the caches are: each buffer once. */
  readonly compulsoryBytes: number;
}

/** A resource that the time of a launch may be limited by. */
export type TermName =
  | "arithmetic"
  | "special functions"
  | "instruction issue"
  | "shuffles"
  | "shared memory"
  | "first-level cache"
  | "second-level cache"
  | "device memory"
  | "latency";

/** The time that a launch would take if one resource were its only limit. */
export interface Term {
  readonly name: TermName;
  readonly timeMs: number;
}

/** What the cost model says about a launch. */
export interface ModelledTime {
  readonly timeMs: number;
  /** The largest term. */
  readonly bottleneck: TermName;
  /** All terms, the largest first: what each would take if nothing else did. */
  readonly terms: readonly Term[];
  /** Workgroups that one multiprocessor holds at a time. */
  readonly residentWorkgroups: number;
}

/**
 * Numbers that no microbenchmark of ours measures. Only these are fitted, to times of attention kernels on one GPU (see
 * docs/cost-model.md for which ones, and for the accuracy on others).
 */
export interface ModelConstants {
  /** Exponent by which the parts of a multiprocessor add up: 1 is no overlap at all, infinity a perfect one. */
  readonly busyExponent: number;
  /** The same for being busy, waiting, and memory that all multiprocessors share. */
  readonly latencyExponent: number;
  /** Clocks from one instruction of a subgroup to its next, with what parallelism a lane's own instructions have. */
  readonly loneClocks: number;
  /** Reads from global memory that a subgroup has in flight at a time. */
  readonly readsInFlight: number;
  /** Of integer instructions, those that are issued: of most, compilers make parts of addresses, or leave loops without them. */
  readonly integerShare: number;
}

/** The constants of the model that no microbenchmark gives. Fitted to measured times: docs/cost-model.md. */
export const MODEL_CONSTANTS: ModelConstants = Object.freeze({
  busyExponent: 2.2,
  latencyExponent: 1.55,
  loneClocks: 1.05,
  readsInFlight: 1.7,
  integerShare: 0.45,
});

/** The time of a launch on a machine, from what the simulator counted. */
export function modelTime(
  profile: MachineProfile,
  workload: Workload,
  constants: ModelConstants = MODEL_CONSTANTS,
): ModelledTime {
  const { counters, workgroups } = workload;
  const launchMs = profile.launchMicroseconds.value / 1000;
  const resident = residentWorkgroups(profile, workload);
  if (workgroups === 0) {
    const terms = [{ name: "latency", timeMs: launchMs }] as const;
    return { timeMs: launchMs, bottleneck: "latency", terms, residentWorkgroups: resident };
  }
  const clocksToMs = 1 / (profile.clockGHz.value * 1e6);
  const lanes = profile.subgroupSize;
  // The busiest multiprocessor sets the time: a partial last wave costs as much as a full one.
  const share = Math.ceil(workgroups / profile.multiprocessors.value);
  const busy = (amount: number, perClock: number): number =>
    (share * amount * clocksToMs) / (workgroups * perClock);
  // Instructions are issued by parts of a multiprocessor, among which subgroups are dealt out for good.
  const schedulers = Math.max(1, Math.round(profile.issuesPerClock.value));
  const subgroups = Math.min(resident, share) * Math.ceil(workload.invocationsPerWorkgroup / lanes);
  const uneven = (Math.ceil(subgroups / schedulers) * schedulers) / subgroups;
  const { issuedSpecial, issuedMemory, issuedSubgroup } = counters;
  const issuedFloat = counters.issuedArithmetic - counters.issuedInteger;
  const issued =
    issuedFloat +
    constants.integerShare * counters.issuedInteger +
    issuedSpecial +
    issuedMemory +
    issuedSubgroup;
  const milliseconds: Readonly<Record<TermName, number>> = {
    "instruction issue": busy(uneven * issued, profile.issuesPerClock.value),
    arithmetic: busy(uneven * issuedFloat * lanes, profile.arithmeticLanesPerClock.value),
    "special functions": busy(uneven * issuedSpecial * lanes, profile.specialLanesPerClock.value),
    shuffles: busy(issuedSubgroup * lanes, profile.shuffleLanesPerClock.value),
    "shared memory": busy(counters.sharedPasses, profile.sharedPassesPerClock.value),
    "first-level cache": busy(counters.globalSectors, profile.sectorsPerClock.value),
    "second-level cache": cacheBytes(counters) / (profile.cacheGBPerSecond.value * 1e6),
    "device memory": workload.compulsoryBytes / (profile.memoryGBPerSecond.value * 1e6),
    latency: Math.ceil(share / resident) * latencyClocks(profile, workload, issued, constants) * clocksToMs,
  };
  const { busyExponent, latencyExponent } = constants;
  const together = norm(
    [
      // What arithmetic waits for beside its own units is to be issued.
      Math.max(milliseconds["instruction issue"], milliseconds.arithmetic),
      milliseconds["special functions"],
      milliseconds.shuffles,
      milliseconds["shared memory"],
      milliseconds["first-level cache"],
    ],
    busyExponent,
  );
  const timeMs = norm(
    [together, milliseconds.latency, milliseconds["second-level cache"], milliseconds["device memory"]],
    latencyExponent,
  );
  const terms = Object.entries(milliseconds)
    .map(([name, each]) => ({ name: name as TermName, timeMs: each }))
    .toSorted((a, b) => b.timeMs - a.timeMs);
  return {
    timeMs: timeMs + launchMs,
    bottleneck: (terms[0] as Term).name,
    terms,
    residentWorkgroups: resident,
  };
}

/** Between the largest of the values and their sum. */
function norm(values: readonly number[], exponent: number): number {
  const largest = Math.max(...values);
  if (largest === 0) return 0;
  return largest * values.reduce((sum, value) => sum + (value / largest) ** exponent, 0) ** (1 / exponent);
}

/**
 * Bytes that leave the first-level cache: lanes that ask for a sector in several steps find it there after the first.
 * Atomic operations are done beyond it; only those on global memory touch sectors.
 */
function cacheBytes({ globalReadBytes, globalWriteBytes, globalSectors, memory }: Counters): number {
  let bytes = globalReadBytes + globalWriteBytes;
  for (const { atomicBytes, atomicSectors } of Object.values(memory))
    if (atomicSectors > 0) bytes += atomicBytes;
  return Math.min(bytes, globalSectors * SECTOR_BYTES);
}

/** How many workgroups fit on a multiprocessor at a time, at least one. */
export function residentWorkgroups(
  profile: MachineProfile,
  needs: WorkgroupNeeds & Pick<Workload, "registersPerInvocation">,
): number {
  const registers = (needs.registersPerInvocation ?? 0) * needs.invocationsPerWorkgroup;
  const byRegisters = registers === 0 ? Infinity : Math.floor(REGISTERS_PER_MULTIPROCESSOR / registers);
  return Math.max(1, Math.min(byRegisters, residentWorkgroupsOf(factsOf(profile), needs) ?? Infinity));
}

/** How long one workgroup takes if nothing but its own dependences holds it up. */
function latencyClocks(
  profile: MachineProfile,
  { counters, workgroups, invocationsPerWorkgroup }: Workload,
  issued: number,
  { loneClocks, readsInFlight }: ModelConstants,
): number {
  const subgroups = workgroups * Math.ceil(invocationsPerWorkgroup / profile.subgroupSize);
  const ofSubgroup =
    issued * loneClocks +
    (counters.issuedSpecial + counters.issuedSubgroup) * profile.sharedLatencyClocks.value +
    (globalReads(counters) * profile.cacheLatencyClocks.value) / readsInFlight;
  return ofSubgroup / subgroups + (counters.barriers * profile.barrierClocks.value) / workgroups;
}

/** Reads of global memory that a lane waits for; asynchronous copies run while other work is done. */
function globalReads({ memory, asyncCopies }: Counters): number {
  let reads = 0;
  for (const { passes, readRequests } of Object.values(memory)) if (passes === 0) reads += readRequests;
  return Math.max(0, reads - asyncCopies);
}

/** Counters of a sample of alike workgroups, scaled to the whole launch. */
export function scaleCounters(counters: Counters, factor: number): Counters {
  const scaled = structuredClone(counters) as unknown as Record<string, unknown>;
  multiplyNumbers(scaled, factor);
  return scaled as unknown as Counters;
}

function multiplyNumbers(record: Record<string, unknown>, factor: number): void {
  for (const [key, value] of Object.entries(record)) {
    if (typeof value === "number") record[key] = value * factor;
    else multiplyNumbers(value as Record<string, unknown>, factor);
  }
}
