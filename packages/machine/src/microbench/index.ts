/** Microbenchmarks of a device: bandwidth, throughput, latency, occupancy; and the machine profile that they give. */

export { profileOf } from "./profile.ts";
export type { MicrobenchReport, Section } from "./report.ts";
export { findTests, runMicrobench, type MicrobenchOptions } from "./run.ts";
export { emitSuite, type SuiteOptions } from "./cpp-suite/suite.ts";
export { microbenchPlots } from "./plots.ts";
