/** Measuring: what there is to measure on a machine, and how what it gives becomes evidence. */

export { collect, findCommands, type Collected, type CollectOptions } from "./collect.ts";
export { machineCommands } from "./machine-measurements.ts";
