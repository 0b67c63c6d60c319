/**
 * A machine profile: the rates and latencies that the cost model needs. Every number says where it is from, so that a
 * datasheet is never mistaken for a measurement.
 */

import type { MachineFacts } from "@evolver/device";
import { SUBGROUP_SIZES } from "@evolver/kernel";
import { nonEmptyTextSchema, parseJsonWith, positiveSchema } from "@evolver/base";
import * as v from "valibot";

/** "driver": what the driver says of its GPU. */
export type ProfileSource = "measured" | "driver" | "datasheet" | "assumed";

const SOURCES = ["measured", "driver", "datasheet", "assumed"] as const satisfies readonly ProfileSource[];

const sourceSchema = v.picklist(SOURCES);
const rateOf = <Value extends v.GenericSchema<number, number>>(value: Value) =>
  v.pipe(v.strictObject({ value, source: sourceSchema }), v.readonly());

const rateSchema = rateOf(positiveSchema);
/** Of a machine there are only whole ones. */
const countedSchema = rateOf(
  v.pipe(positiveSchema, v.safeInteger("it must be a whole number, as there are no parts of one")),
);

/** A number, and where it is from. */
export type Rate = v.InferOutput<typeof rateSchema>;

/** Sources that speak of the very machine. */
const FROM_THE_MACHINE: ReadonlySet<ProfileSource> = new Set(["measured", "driver"]);

const profileSchema = v.pipe(
  v.strictObject({
    /** For tables: "H200 (datasheet)". */
    name: nonEmptyTextSchema,
    /**
     * What the whole profile may be called: "measured" or "driver" only if every number is one of the two. A datasheet does
     * not publish everything, so a "datasheet" may have assumed numbers.
     */
    source: sourceSchema,
    subgroupSize: v.pipe(
      v.number(),
      v.values(SUBGROUP_SIZES, "it must be a width of subgroups: 4, 8, 16, 32, 64 or 128"),
    ),
    multiprocessors: countedSchema,
    clockGHz: rateSchema,
    /** f32 lanes that a multiprocessor starts per clock; a lane is an add, a multiply or an fma. */
    arithmeticLanesPerClock: rateSchema,
    /** Special-function lanes (exp2, rsqrt, division, …) a multiprocessor starts each clock. */
    specialLanesPerClock: rateSchema,
    /** Subgroup instructions of any kind that a multiprocessor issues each clock. */
    issuesPerClock: rateSchema,
    /** Lanes that take part in a shuffle each clock. */
    shuffleLanesPerClock: rateSchema,
    /** Passes over the banks of shared memory each clock. */
    sharedPassesPerClock: rateSchema,
    /** 32-byte sectors that a multiprocessor moves to or from its first-level cache each clock. */
    sectorsPerClock: rateSchema,
    /** All multiprocessors together, from the second-level cache. */
    cacheGBPerSecond: rateSchema,
    memoryGBPerSecond: rateSchema,
    /** Of a dependent load from the first-level cache, from the cache that all multiprocessors share, and from memory. */
    firstLevelLatencyClocks: rateSchema,
    cacheLatencyClocks: rateSchema,
    globalLatencyClocks: rateSchema,
    sharedLatencyClocks: rateSchema,
    barrierClocks: rateSchema,
    arithmeticLatencyClocks: rateSchema,
    launchMicroseconds: rateSchema,
    /** Atomic additions of all multiprocessors together: on one word of global memory, and on words of their own. */
    contendedAtomicsPerMicrosecond: rateSchema,
    globalAtomicsPerMicrosecond: rateSchema,
    /** Atomic additions of one multiprocessor on one word of its shared memory. */
    sharedAtomicsPerMicrosecond: rateSchema,
    maxInvocationsPerMultiprocessor: countedSchema,
    maxWorkgroupsPerMultiprocessor: countedSchema,
    sharedBytesPerMultiprocessor: countedSchema,
  }),
  v.readonly(),
);

/** What a machine can do, as measured: rates, latencies and limits, with their units in their names. */
export type MachineProfile = v.InferOutput<typeof profileSchema>;

/** What a driver would say of the machine. */
export const factsOf = (profile: MachineProfile): MachineFacts => ({
  multiprocessors: profile.multiprocessors.value,
  clockGHz: profile.clockGHz.value,
  cacheBytes: null,
  maxInvocationsPerMultiprocessor: profile.maxInvocationsPerMultiprocessor.value,
  maxWorkgroupsPerMultiprocessor: profile.maxWorkgroupsPerMultiprocessor.value,
  sharedBytesPerMultiprocessor: profile.sharedBytesPerMultiprocessor.value,
});

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

/**
 * A profile from its JSON text, as `evolver bench microbench --save` writes it.
 *
 * @param file where the text is from, for the message
 * @throws EvolverError PROFILE_INVALID, naming the field that is missing, unknown, no positive number or not whole, or
 *   whose source is weaker than the profile's own
 */
export function parseProfile(text: string, file?: string): MachineProfile {
  return parseJsonWith(consistentSchema, text, {
    what: "the machine profile",
    file,
    code: "PROFILE_INVALID",
    hint: "write one with `npx evolver bench microbench --device D --save FILE`",
  });
}

/** No number comes from a weaker source than the profile says of itself. */
const consistentSchema = v.pipe(
  profileSchema,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || !FROM_THE_MACHINE.has(dataset.value.source)) return;
    const { value: profile } = dataset;
    for (const [key, value] of Object.entries(profile)) {
      if (typeof value !== "object" || FROM_THE_MACHINE.has(value.source)) continue;
      addIssue({
        input: value.source,
        message: `it must be measured or the driver's, as the profile calls itself "${profile.source}"`,
        path: [
          { type: "object", origin: "value", input: profile, key, value },
          { type: "object", origin: "value", input: value, key: "source", value: value.source },
        ],
      });
    }
  }),
);
