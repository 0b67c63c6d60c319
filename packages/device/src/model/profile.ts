/**
 * A machine profile: the rates and latencies that the cost model needs. Every number says where it is from, so that a
 * datasheet is never mistaken for a measurement.
 */

export type ProfileSource = "measured" | "datasheet" | "assumed";

export interface Rate {
  readonly value: number;
  readonly source: ProfileSource;
}

export interface MachineProfile {
  /** For tables: "H200 (datasheet)". */
  readonly name: string;
  /** What the whole profile may be called: measured only if every number is. */
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
  readonly globalLatencyClocks: Rate;
  readonly sharedLatencyClocks: Rate;
  readonly barrierClocks: Rate;
  readonly arithmeticLatencyClocks: Rate;
  readonly launchMicroseconds: Rate;
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
  globalLatencyClocks: assumed(600),
  sharedLatencyClocks: assumed(30),
  barrierClocks: assumed(30),
  arithmeticLatencyClocks: assumed(4),
  launchMicroseconds: assumed(3),
  maxInvocationsPerMultiprocessor: datasheet(2048),
  maxWorkgroupsPerMultiprocessor: datasheet(32),
  sharedBytesPerMultiprocessor: datasheet(233472),
});
