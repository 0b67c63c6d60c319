/**
 * Predicts a kernel's time from what the simulator counted and a machine profile. Each term is one resource; the
 * kernel takes as long as its busiest one. Deliberately small: it orders candidates, it does not replace a clock.
 */

import type { Counters } from "../counters.ts";
import type { MachineProfile } from "./profile.ts";

/** One launch, with counters for all of its workgroups (measured on all of them, or scaled from a sample). */
export interface Workload {
  readonly counters: Counters;
  readonly workgroups: number;
  readonly invocationsPerWorkgroup: number;
  readonly sharedBytesPerWorkgroup: number;
  /** Bytes that must cross device memory however good the caches are: each buffer once. */
  readonly compulsoryBytes: number;
}

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

export interface Term {
  readonly name: TermName;
  readonly timeMs: number;
}

export interface ModelledTime {
  readonly timeMs: number;
  /** The resource that decides. */
  readonly bottleneck: TermName;
  /** All terms, the largest first. */
  readonly terms: readonly Term[];
  /** Workgroups that one multiprocessor holds at a time. */
  readonly residentWorkgroups: number;
}

/** Independent memory requests that a subgroup keeps in flight, by which latency is divided. */
const REQUESTS_IN_FLIGHT = 4;

export function modelTime(profile: MachineProfile, workload: Workload): ModelledTime {
  const { counters, workgroups } = workload;
  const resident = residentWorkgroups(profile, workload);
  if (workgroups === 0) {
    const timeMs = profile.launchMicroseconds.value / 1000;
    return {
      timeMs,
      bottleneck: "latency",
      terms: [{ name: "latency", timeMs }],
      residentWorkgroups: resident,
    };
  }
  const multiprocessors = profile.multiprocessors.value;
  // The busiest multiprocessor sets the time: a partial last wave costs as much as a full one.
  const share = Math.ceil(workgroups / multiprocessors) / workgroups;
  const clocksToMs = 1 / (profile.clockGHz.value * 1e6);
  const lanes = profile.subgroupSize;
  const perMultiprocessor = (amount: number, perClock: number): number =>
    ((amount * share) / perClock) * clocksToMs;
  const issued =
    counters.issuedArithmetic + counters.issuedSpecial + counters.issuedMemory + counters.issuedSubgroup;
  const waves = Math.ceil(workgroups / (multiprocessors * resident));
  const terms: Term[] = [
    {
      name: "arithmetic",
      timeMs: perMultiprocessor(counters.issuedArithmetic * lanes, profile.arithmeticLanesPerClock.value),
    },
    {
      name: "special functions",
      timeMs: perMultiprocessor(counters.issuedSpecial * lanes, profile.specialLanesPerClock.value),
    },
    { name: "instruction issue", timeMs: perMultiprocessor(issued, profile.issuesPerClock.value) },
    {
      name: "shuffles",
      timeMs: perMultiprocessor(counters.issuedSubgroup * lanes, profile.shuffleLanesPerClock.value),
    },
    {
      name: "shared memory",
      timeMs: perMultiprocessor(counters.sharedPasses, profile.sharedPassesPerClock.value),
    },
    {
      name: "first-level cache",
      timeMs: perMultiprocessor(counters.globalSectors, profile.sectorsPerClock.value),
    },
    {
      name: "second-level cache",
      timeMs: (counters.globalSectors * 32) / (profile.cacheGBPerSecond.value * 1e6),
    },
    { name: "device memory", timeMs: workload.compulsoryBytes / (profile.memoryGBPerSecond.value * 1e6) },
    { name: "latency", timeMs: waves * latencyClocks(profile, workload) * clocksToMs },
  ];
  terms.sort((a, b) => b.timeMs - a.timeMs);
  const slowest = terms[0] as Term;
  return {
    timeMs: slowest.timeMs + profile.launchMicroseconds.value / 1000,
    bottleneck: slowest.name,
    terms,
    residentWorkgroups: resident,
  };
}

/** How many workgroups fit on a multiprocessor at a time, at least one. */
export function residentWorkgroups(
  profile: MachineProfile,
  workload: Pick<Workload, "invocationsPerWorkgroup" | "sharedBytesPerWorkgroup">,
): number {
  const byInvocations = Math.floor(
    profile.maxInvocationsPerMultiprocessor.value / workload.invocationsPerWorkgroup,
  );
  const byShared =
    workload.sharedBytesPerWorkgroup === 0
      ? Infinity
      : Math.floor(profile.sharedBytesPerMultiprocessor.value / (workload.sharedBytesPerWorkgroup + 1024));
  return Math.max(1, Math.min(profile.maxWorkgroupsPerMultiprocessor.value, byInvocations, byShared));
}

/** How long one workgroup takes if nothing but its own dependences holds it up. */
function latencyClocks(
  profile: MachineProfile,
  { counters, workgroups, invocationsPerWorkgroup }: Workload,
): number {
  const subgroups = workgroups * Math.ceil(invocationsPerWorkgroup / profile.subgroupSize);
  let globalRequests = 0;
  let sharedRequests = 0;
  for (const memory of Object.values(counters.memory)) {
    const requests = memory.readRequests + memory.writeRequests;
    if (memory.passes > 0) sharedRequests += requests;
    else globalRequests += requests;
  }
  const memoryClocks =
    (globalRequests * profile.globalLatencyClocks.value +
      sharedRequests * profile.sharedLatencyClocks.value) /
    REQUESTS_IN_FLIGHT;
  const otherClocks =
    counters.issuedArithmetic +
    (counters.issuedSpecial + counters.issuedSubgroup) * profile.arithmeticLatencyClocks.value;
  return (
    (memoryClocks + otherClocks) / subgroups + (counters.barriers * profile.barrierClocks.value) / workgroups
  );
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
