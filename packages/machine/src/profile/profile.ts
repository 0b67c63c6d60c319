/**
 * A machine profile: the rates and latencies that the cost model needs. Every number says where it is from, so that a
 * datasheet is never mistaken for a measurement.
 */

import { EvolverError } from "@evolver/base";

/** "driver": what the driver says of its GPU. */
export type ProfileSource = "measured" | "driver" | "datasheet" | "assumed";

export interface Rate {
  readonly value: number;
  readonly source: ProfileSource;
}

export interface MachineProfile {
  /** For tables: "H200 (datasheet)". */
  readonly name: string;
  /**
   * What the whole profile may be called: "measured" or "driver" only if every number is one of the two. A datasheet does
   * not publish everything, so a "datasheet" may have assumed numbers.
   */
  readonly source: ProfileSource;
  readonly subgroupSize: number;
  readonly multiprocessors: Rate;
  readonly clockGHz: Rate;
  /** f32 lanes a multiprocessor starts each clock; a lane is an add, a multiply or an fma. */
  readonly arithmeticLanesPerClock: Rate;
  /** Special-function lanes (exp2, rsqrt, division, …) a multiprocessor starts each clock. */
  readonly specialLanesPerClock: Rate;
  /** Subgroup instructions of any kind that a multiprocessor issues each clock. */
  readonly issuesPerClock: Rate;
  /** Lanes that take part in a shuffle each clock. */
  readonly shuffleLanesPerClock: Rate;
  /** Passes over the banks of shared memory each clock. */
  readonly sharedPassesPerClock: Rate;
  /** 32-byte sectors that a multiprocessor moves to or from its first-level cache each clock. */
  readonly sectorsPerClock: Rate;
  /** All multiprocessors together, from the second-level cache. */
  readonly cacheGBPerSecond: Rate;
  readonly memoryGBPerSecond: Rate;
  /** Of a dependent load from the first-level cache, from the cache that all multiprocessors share, and from memory. */
  readonly firstLevelLatencyClocks: Rate;
  readonly cacheLatencyClocks: Rate;
  readonly globalLatencyClocks: Rate;
  readonly sharedLatencyClocks: Rate;
  readonly barrierClocks: Rate;
  readonly arithmeticLatencyClocks: Rate;
  readonly launchMicroseconds: Rate;
  /** Atomic additions of all multiprocessors together: on one word of global memory, and on words of their own. */
  readonly contendedAtomicsPerMicrosecond: Rate;
  readonly globalAtomicsPerMicrosecond: Rate;
  /** Atomic additions of one multiprocessor on one word of its shared memory. */
  readonly sharedAtomicsPerMicrosecond: Rate;
  readonly maxInvocationsPerMultiprocessor: Rate;
  readonly maxWorkgroupsPerMultiprocessor: Rate;
  readonly sharedBytesPerMultiprocessor: Rate;
}

const datasheet = (value: number): Rate => ({ value, source: "datasheet" });
const assumed = (value: number): Rate => ({ value, source: "assumed" });

/**
 * NVIDIA H200 SXM from its datasheet (66.9 TFLOP/s f32, 4.8 TB/s) and the Hopper tuning guide's occupancy limits.
 * Latencies and the second-level cache's rate are not published; they are marked as assumed.
 */
export const h200Datasheet: MachineProfile = Object.freeze({
  name: "H200 (datasheet)",
  source: "datasheet",
  subgroupSize: 32,
  multiprocessors: datasheet(132),
  clockGHz: datasheet(1.98),
  arithmeticLanesPerClock: datasheet(128),
  specialLanesPerClock: datasheet(16),
  issuesPerClock: datasheet(4),
  shuffleLanesPerClock: datasheet(32),
  sharedPassesPerClock: datasheet(1),
  sectorsPerClock: datasheet(4),
  cacheGBPerSecond: assumed(5500),
  memoryGBPerSecond: datasheet(4800),
  firstLevelLatencyClocks: assumed(35),
  cacheLatencyClocks: assumed(270),
  globalLatencyClocks: assumed(600),
  sharedLatencyClocks: assumed(30),
  barrierClocks: assumed(30),
  arithmeticLatencyClocks: assumed(4),
  launchMicroseconds: assumed(3),
  contendedAtomicsPerMicrosecond: assumed(2000),
  globalAtomicsPerMicrosecond: assumed(100_000),
  sharedAtomicsPerMicrosecond: assumed(2000),
  maxInvocationsPerMultiprocessor: datasheet(2048),
  maxWorkgroupsPerMultiprocessor: datasheet(32),
  sharedBytesPerMultiprocessor: datasheet(233472),
});

/** Of a machine there are only whole ones. */
const COUNTED: ReadonlySet<string> = new Set<keyof MachineProfile>([
  "multiprocessors",
  "maxInvocationsPerMultiprocessor",
  "maxWorkgroupsPerMultiprocessor",
  "sharedBytesPerMultiprocessor",
]);

const SOURCES: readonly string[] = ["measured", "driver", "datasheet", "assumed"] satisfies ProfileSource[];

/**
 * A profile from its JSON text, as `evolver bench microbench --save` writes it.
 * @throws EvolverError PROFILE_INVALID, naming the field that is missing, unknown, no positive number or not whole, or
 *   whose source is weaker than the profile's own
 */
export function parseProfile(text: string): MachineProfile {
  const given = parseJson(text);
  for (const field of Object.keys(given)) {
    if (!Object.hasOwn(h200Datasheet, field)) throw invalid(`has an unknown field "${field}"`);
  }
  const fields = Object.entries(h200Datasheet).map(([field, example]) => {
    const value = given[field];
    if (value === undefined) throw invalid(`lacks "${field}"`);
    if (field === "source") return [field, sourceIn(value, "the profile")];
    if (typeof example === "object") return [field, rateIn(value, field)];
    if (typeof value !== typeof example) throw invalid(`has no ${typeof example} for "${field}"`);
    return [field, value];
  });
  const profile = Object.freeze(Object.fromEntries(fields)) as MachineProfile;
  if (![4, 8, 16, 32, 64, 128].includes(profile.subgroupSize))
    throw invalid(`has ${profile.subgroupSize} for "subgroupSize", which is no width of subgroups`);
  if (profile.name.trim() === "") throw invalid('has no text for "name"');
  if (FROM_THE_MACHINE.has(profile.source)) refuseWeaker(profile);
  return profile;
}

/** Sources that speak of the very machine. */
const FROM_THE_MACHINE: ReadonlySet<ProfileSource> = new Set(["measured", "driver"]);

function refuseWeaker(profile: MachineProfile): void {
  for (const [field, rate] of Object.entries(profile) as [string, unknown][]) {
    if (typeof rate !== "object" || FROM_THE_MACHINE.has((rate as Rate).source)) continue;
    const { source } = rate as Rate;
    throw invalid(`says "${profile.source}" for its "source", and "${source}" for that of "${field}"`);
  }
}

function parseJson(text: string): Readonly<Record<string, unknown>> {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw invalid(`is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw invalid("is no JSON object");
  return given as Readonly<Record<string, unknown>>;
}

function rateIn(given: unknown, field: string): Rate {
  const rate = (typeof given === "object" && given !== null ? given : {}) as Partial<Rate>;
  const { value, source } = rate;
  if (typeof value !== "number" || !Number.isFinite(value) || value <= 0)
    throw invalid(`has no positive number in "${field}.value"`);
  if (COUNTED.has(field) && !Number.isSafeInteger(value))
    throw invalid(`has ${value} in "${field}.value", which is no whole number`);
  const unknown = Object.keys(rate).find((key) => key !== "value" && key !== "source");
  if (unknown !== undefined) throw invalid(`has an unknown field "${field}.${unknown}"`);
  return Object.freeze({ value, source: sourceIn(source, `"${field}"`) });
}

function sourceIn(given: unknown, where: string): ProfileSource {
  if (typeof given === "string" && SOURCES.includes(given)) return given as ProfileSource;
  throw invalid(`does not say where ${where} is from: "source" is one of ${SOURCES.join(", ")}`);
}

const invalid = (what: string): EvolverError =>
  new EvolverError("PROFILE_INVALID", `the machine profile ${what}`, {
    hint: "write one with `evolver bench microbench --device D --save FILE`",
  });
